"""Whether Kueue and the nodes start a job while no other job runs, and why not."""

from collections.abc import Mapping
from dataclasses import replace as copied

from msgspec.structs import replace

from policygen.simulate.arrival import Arrival, PodBatch
from policygen.simulate.kueue.assignment import Mode, assign
from policygen.simulate.kueue.workload import Admission, QueuedWorkload
from policygen.simulate.scene import Scene
from policygen.simulate.scene_schedulers import kube_scheduler, kueue_scheduler, shapes
from policygen.simulate.why.causes import Cause, CauseKind, NeverPlaced
from policygen.simulate.why.node_causes import OccupiedNodes
from policygen.simulate.why.quota_causes import quota_cause
from policygen.simulate.why.situation import Settled

_MOST_CYCLES = 20
"""In which a job that is alone tries all flavors."""
_IN_TURN = ("Job",)
"""Kinds whose pods may run one after the other."""


class EmptyPlatform:
    """A platform without jobs, on which jobs are tried one by one. None of them stays.

    Cordoned nodes count as open.
    """

    def __init__(self, scene: Scene) -> None:
        self._kueue = kueue_scheduler(scene)
        self.state = self._kueue.state
        opened = tuple(replace(it, unschedulable=False) for it in scene.nodes)
        kube = kube_scheduler(replace(scene, nodes=opened), None)
        self._nodes = None if kube is None else OccupiedNodes(kube, shapes(scene, kube), {})
        self._never: dict[object, NeverPlaced | None] = {}
        """Why nodes do not hold pods, by their shape and number."""

    def admission(self, workload: QueuedWorkload) -> Admission | None:
        """The quota that a waiting workload gets; None: Kueue does not admit it."""
        self._try(workload)
        found = workload.admission
        self._kueue.finish(workload)
        return found

    def flavors(self, workload: QueuedWorkload) -> Mapping[str, Mapping[str, str]] | None:
        """The flavors that a waiting workload with a queue gets, by pod set; None: Kueue does not admit it."""
        chosen = self._assigned(workload)
        if chosen is not None:
            return chosen
        found = self.admission(workload)
        return {it.name: it.flavors for it in found.pod_sets} if found is not None else None

    def cause(self, job: Arrival) -> Cause | None:
        """Why a waiting job with a queue does not start; None: it starts, or Kueue does not manage it."""
        workload = job.workload
        if workload is None:
            return None
        chosen = self._assigned(workload)
        if chosen is None:  # then more than the first choice of flavors decides
            self._try(workload)
            found = workload.admission
            cause = quota_cause(Settled(self.state), workload) if found is None else None
            self._kueue.finish(workload)
            if found is None:
                return cause
            chosen = {it.name: it.flavors for it in found.pod_sets if it.placement is None}
        return self._on_nodes(job, chosen)

    def _assigned(self, workload: QueuedWorkload) -> Mapping[str, Mapping[str, str]] | None:
        """The flavors by pod set, if the first choice has quota and no topology; None: unknown."""
        queue = self.state.queue_of(workload)
        namespace = workload.name.partition("/")[0]
        if queue.inactive or workload.refusal or namespace not in queue.namespaces:
            return None
        found = assign(self.state, copied(workload), queue)
        if found.mode is not Mode.FIT or found.placing:
            return None
        return {
            it.pod_set.name: {name: one.flavor for name, one in it.chosen.items()}
            for it in found.pod_sets
        }

    def _try(self, workload: QueuedWorkload) -> None:
        self._kueue.submit(workload)
        for _ in range(_MOST_CYCLES):
            self._kueue.cycle(0.0)
            if workload.admission is not None or not self._kueue.waits():
                break

    def _on_nodes(self, job: Arrival, chosen: Mapping[str, Mapping[str, str]]) -> Cause | None:
        """Why nodes do not take the pods of a pod set, each set for itself."""
        nodes = self._nodes
        if nodes is None:
            return None
        for batch in job.pods:
            if (flavors := chosen.get(batch.name)) is None:
                continue
            one = replace(batch, count=min(batch.count, 1)) if job.kind in _IN_TURN else batch
            never = self._no_room(nodes, replace(job, pods=(one,)), one, flavors)
            if never is not None:
                names = tuple(dict.fromkeys(flavors.values()))
                return Cause(CauseKind.NO_NODES, never=never, names=names)
        return None

    def _no_room(
        self, nodes: OccupiedNodes, job: Arrival, batch: PodBatch, flavors: Mapping[str, str]
    ) -> NeverPlaced | None:
        shape = nodes.shapes(job, batch, flavors, {})
        if shape is None:
            return None
        lone = not (shape.terms or shape.constraints or shape.default_selector)
        key = shape.own if lone else shape, batch.count
        if key not in self._never:
            self._never[key] = nodes.never(job, {batch.name: flavors})
        return self._never[key]
