"""The objects of users behind the Workloads of Kueue."""

from collections.abc import Sequence

from msgspec.structs import replace

from policygen.kubernetes.object import Object
from policygen.simulate.arrival import Arrival
from policygen.simulate.kueue.workload import QueuedWorkload
from policygen.simulate.scene import Scene
from policygen.simulate.why.history import Preempted, preempted
from policygen.simulate.why.remedy import Remedy


class WorkloadOwners:
    """Finds the jobs of Workloads, and what Kueue wrote about these."""

    def __init__(self, scene: Scene, arrivals: Sequence[Arrival]) -> None:
        self._scene = scene
        self._arrivals = arrivals
        self.by_workload = {it.workload.name: it for it in arrivals if it.workload}
        """The jobs by the name of their Workload."""

    def name(self, workload: str) -> str:
        """The name of the job of a Workload, or that of a Workload without one."""
        found = self.by_workload.get(workload)
        return workload if found is None else found.name

    def shown(self, it: Remedy) -> Remedy:
        """A remedy with the names of the objects of users."""
        cost = it.cost
        return replace(
            it,
            cost=replace(
                cost,
                preempted=tuple(map(self.name, cost.preempted)),
                delayed=tuple(map(self.name, cost.delayed)),
                admitted=tuple(map(self.name, cost.admitted)),
            ),
            ends=tuple(map(self.name, it.ends)),
        )

    def object(self, workload: QueuedWorkload) -> Object | None:
        """The Workload that a cluster has; None: it is not listed."""
        namespace, _, name = workload.name.partition("/")
        entry = self._scene.cluster.kueue_workloads.get(name, namespace)
        return entry.object if entry else None

    def history(self, arrival: Arrival) -> tuple[Preempted, ...]:
        """Who preempted a job of a cluster."""
        object_ = self.object(arrival.workload) if arrival.workload is not None else None
        if object_ is None:
            return ()
        names = {it.workload.uid: it.name for it in self._arrivals if it.workload}
        return tuple(preempted(object_, names))
