"""The pools whose accelerators jobs of a timeline wait for."""

from collections.abc import Iterator

from policygen.kubernetes.accelerators import is_one
from policygen.kubernetes.scheduler_reasons import INSUFFICIENT
from policygen.simulate.kueue.assignment import topology_refusal
from policygen.simulate.kueue.queue import Group, SimulatedQueue
from policygen.simulate.kueue.state import QueueState
from policygen.simulate.kueue.workload import PodSet, QueuedWorkload
from policygen.simulate.over_time.job_run import JobRun
from policygen.simulate.placement.shape import PodShape
from policygen.simulate.scene import Scene
from policygen.simulate.timeline import Timeline


class WantedPools:
    """Finds the pools of jobs. What equal jobs share is computed once."""

    def __init__(self, scene: Scene, timeline: Timeline) -> None:
        self._scene = scene
        self._timeline = timeline
        self.of_flavor = {it: pool.name for pool in scene.pools for it in pool.flavors}
        self.of_node = {it: pool.name for pool in scene.pools for it in pool.nodes}
        self._found: dict[tuple[str, int], tuple[frozenset[str], tuple[PodSet, ...]]] = {}
        """The pools for pod sets, by queue and pod sets. These are kept, so that no others get their id."""
        self._matching: dict[PodShape, frozenset[str]] = {}

    @property
    def _state(self) -> QueueState | None:
        return self._timeline.kueue.state if self._timeline.kueue is not None else None

    def of_job(self, job: JobRun) -> frozenset[str]:
        """The pools for which a job waits that never ran."""
        arrival, state = job.arrival, self._state
        if arrival.refusal or job.started is not None:
            return frozenset()
        if job.workload is not None:
            if state is None or state.local_queues.get(job.workload.queue) not in state.queues:
                return frozenset()
            return self.of_workload(state.queue_of(job.workload), job.workload)
        if arrival.gang is not None:
            name = f".{arrival.gang.queue}"  # a spec ends the name of a queue with its pool
            return frozenset(it.name for it in self._scene.pools if name.endswith(f".{it.name}"))
        return frozenset(
            pool for shape, _ in self._timeline.waiting_of(job) for pool in self._of_pods(shape)
        )

    def of_workload(self, queue: SimulatedQueue, workload: QueuedWorkload) -> frozenset[str]:
        """The pools whose GPUs a queue can give to a workload."""
        key = queue.name, id(workload.pod_sets)
        if key not in self._found:
            state = self._state
            found = _flavors_for(state, queue, workload) if state is not None else ()
            pools = frozenset(self.of_flavor.get(it, it) for it in found)
            self._found[key] = pools, workload.pod_sets
        return self._found[key][0]

    def _of_pods(self, shape: PodShape) -> frozenset[str]:
        """The pools with nodes that pods match."""
        kube = self._timeline.kube
        if kube is None:
            return frozenset()
        if shape not in self._matching:
            names = kube.nodes.all
            self._matching[shape] = frozenset(
                self.of_node[names[node].name]
                for node, reasons in kube.refusals(shape).items()
                if matches(reasons) and names[node].name in self.of_node
            )
        return self._matching[shape]


def matches(reasons: tuple[str, ...]) -> bool:
    """Whether a node that refuses pods for these reasons only lacks room for them."""
    return "Too many pods" in reasons or any(it.startswith(INSUFFICIENT) for it in reasons)


def _flavors_for(
    state: QueueState, queue: SimulatedQueue, workload: QueuedWorkload
) -> Iterator[str]:
    """The flavors with accelerators of a queue that match pods of a workload which request these."""
    for pod_set in workload.pod_sets:
        for group in {id(it): it for it in _groups_for(queue, pod_set)}.values():
            for flavor in group.flavors:
                refused = topology_refusal(state, queue, pod_set, group, flavor.name)
                if not refused and not state.refusal(flavor.name, pod_set):
                    yield flavor.name


def _groups_for(queue: SimulatedQueue, pod_set: PodSet) -> Iterator[Group]:
    """The resource groups of the accelerators that pods request."""
    for name, amount in pod_set.requests:
        group = queue.group_of.get(name)
        if amount and is_one(name) and group is not None:
            yield group
