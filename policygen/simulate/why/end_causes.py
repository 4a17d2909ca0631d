"""Why jobs wait when a simulation over time ends."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from policygen.core.durations import duration
from policygen.kubernetes.workloads import PodSpec
from policygen.simulate.arrival import PodBatch
from policygen.simulate.kueue.queue import SimulatedQueue
from policygen.simulate.kueue.workload import QueuedWorkload
from policygen.simulate.over_time.job_run import JobRun
from policygen.simulate.placement.preemption import RunningPod
from policygen.simulate.placement.shape import PodShape
from policygen.simulate.scene import Scene
from policygen.simulate.timeline import Timeline
from policygen.simulate.why.causes import Cause, CauseKind, waiting_pods, with_owners
from policygen.simulate.why.gang_causes import GangCauses
from policygen.simulate.why.node_causes import OccupiedNodes
from policygen.simulate.why.object_causes import (
    deactivated,
    object_cause,
    past_queue,
    pending_checks,
    scheduler_missing,
)
from policygen.simulate.why.quota_causes import first_of, quota_cause
from policygen.simulate.why.refused_pods import quota_refusal
from policygen.simulate.why.scene_situation import asked_workload
from policygen.simulate.why.situation import Settled


class PodCauses:
    """Explains why pods of admitted jobs do not run, in the present state of a timeline.

    Equal pods share the reasons of nodes.
    """

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._nodes: OccupiedNodes | None = None
        self._found: dict[PodShape, Cause] = {}

    def of(self, job: JobRun) -> Cause | None:
        """Why the first pods of a job that have no node have none; None: that is not known."""
        quotas, namespace = self._timeline.quotas, job.arrival.namespace
        batches = job.arrival.admitted().pods
        refused = Counter[str]()
        specs: list[tuple[PodSpec, int]] = []
        for batch, count in self._timeline.refused_pods(job):
            refused[batch.name] += count
            specs.append((batch.spec, count))
        refusal = quotas.refusing(namespace, specs) if quotas is not None else None
        if refusal is not None:
            pods = sum(it.count for it in batches)
            return replace(
                quota_refusal(refusal, namespace),
                placed=pods - refused.total(),
                pods=pods,
                waiting=waiting_pods(batches, (refused[it.name] for it in batches)),
            )
        gates = {gate for it in job.arrival.pods if it.name in job.gated for gate in it.gates}
        if gates:
            return Cause(CauseKind.GATED, names=tuple(sorted(gates)))
        shapes = Counter(dict(self._timeline.waiting_of(job)))
        shape = next(iter(shapes), None)
        kube = self._timeline.kube
        if shape is None or kube is None:
            return None
        if self._nodes is None:
            self._nodes = OccupiedNodes(kube, lambda *_: None, self._running())
        if shape not in self._found:
            self._found[shape] = self._nodes.refused(shape, 0, 0)
        placed = len(job.bound)
        return replace(
            self._found[shape],
            placed=placed,
            pods=placed + job.unbound,
            waiting=waiting_pods(batches, self._without_node(job, batches, shapes)),
        )

    def _without_node(
        self, job: JobRun, batches: Sequence[PodBatch], left: Counter[PodShape]
    ) -> Iterator[int]:
        """How many pods of each batch wait for a node. It takes them out of what is left."""
        for batch in batches:
            waiting = 0
            for shape, count in self._timeline.shapes_of(job, batch):
                taken = min(count, left[shape])
                left[shape] -= taken
                waiting += taken
            yield waiting

    def _running(self) -> Mapping[int, list[RunningPod]]:
        found: dict[int, list[RunningPod]] = {}
        for job in self._timeline.on_nodes:
            for shape, node in job.bound:
                one = RunningPod(job.arrival.name, shape, job.arrival.priority, job.since)
                found.setdefault(node, []).append(one)
        return found


class EndCauses:
    """Explains jobs of a timeline, in its present state. Equal jobs share their causes.

    `most` is the largest number of causes about quota that are looked for; None: all.
    """

    def __init__(self, scene: Scene, timeline: Timeline, most: int | None = None) -> None:
        self._scene = scene
        self._timeline = timeline
        self._owners = {
            it.workload.name: it.arrival.name for it in timeline.jobs if it.workload is not None
        }
        self._livelocked = frozenset(
            it.workload.name
            for it in timeline.jobs
            if it.workload is not None
            and any(it.arrival.name in names for names in timeline.livelocks)
        )
        self._of_objects: dict[tuple[str, bool], Cause | None] = {}
        self._of_quota: dict[object, Cause] = {}
        self._most = most
        self.skipped = 0
        """For how many jobs it did not look for the cause."""
        self._first: dict[str, str] = {}
        """The name of the workload that a StrictFIFO queue tries first, or an empty one."""
        self._pods = PodCauses(timeline)
        self._gangs = GangCauses(scene, timeline)

    def of(self, job: JobRun, evicted: Cause | None = None) -> Cause:
        """Why a job waits. `evicted` is why its pods were not ready in time, when it was last evicted."""
        arrival, workload = job.arrival, job.workload
        about = f"{arrival.kind} {arrival.object_name}"
        if arrival.unknown:
            return Cause(CauseKind.UNKNOWN, about, message=arrival.refusal)
        if arrival.refusal and workload is None:
            return Cause(CauseKind.NOT_MANAGED, about, message=arrival.refusal)
        if job.failed:
            return Cause(CauseKind.NODE_REJECTS, about, message=f"{job.reason}, {job.message}")
        if arrival.unscheduled:
            return scheduler_missing(self._scene.cluster, arrival.unscheduled)
        if arrival.gang is not None:
            return self._gangs.of(job)
        if job.active:
            return past_queue(arrival, self._pods.of(job) or Cause(CauseKind.UNKNOWN))
        if workload is None or any(self._timeline.refused_pods(job)):
            found = self._pods.of(job) or Cause(CauseKind.UNKNOWN, message=job.message)
            return past_queue(arrival, found)
        return self._of_workload(job, workload, evicted)

    def _of_workload(self, job: JobRun, workload: QueuedWorkload, evicted: Cause | None) -> Cause:
        """Why Kueue does not admit it."""
        if workload.admission is not None and workload.pending_checks:
            return pending_checks(workload)
        if not workload.active:  # Kueue may have deactivated it
            return deactivated(workload)
        found = self._with_objects(job, workload) or evicted
        if found is None and workload.hold and workload.retry_at is not None:
            after = f"at {duration(workload.retry_at)} after the start"
            about = f"{job.arrival.kind} {job.arrival.object_name}"
            return Cause(CauseKind.BACKOFF, about, message=after)
        return found or self._with_quota(workload)

    def _with_objects(self, job: JobRun, workload: QueuedWorkload) -> Cause | None:
        key = workload.queue, workload.active
        if key not in self._of_objects:
            asked = asked_workload(job.arrival, workload, self._scene)
            self._of_objects[key] = object_cause(self._scene.cluster, asked)
        return self._of_objects[key]

    def _with_quota(self, workload: QueuedWorkload) -> Cause:
        kueue = self._timeline.kueue
        if kueue is None:
            return Cause(CauseKind.UNKNOWN, message=workload.message)
        state = kueue.state
        queue = state.queue_of(workload)
        key = (
            workload.queue,
            workload.equivalence,
            workload.refusal,
            self._first_of(queue) == workload.name,
            workload.name in self._livelocked,
        )
        if key not in self._of_quota:
            if self._most is not None and len(self._of_quota) >= self._most:
                self.skipped += 1
                return Cause(CauseKind.UNKNOWN, message=workload.message)
            settled = Settled(state, livelocked=self._livelocked)
            self._of_quota[key] = with_owners(quota_cause(settled, workload), self._owner)
        return self._of_quota[key]

    def _first_of(self, queue: SimulatedQueue) -> str:
        if queue.name not in self._first:
            first = first_of(queue)
            self._first[queue.name] = "" if first is None else first.name
        return self._first[queue.name]

    def _owner(self, name: str) -> str:
        return self._owners.get(name, name)
