"""The jobs that run or wait at a time of a simulation, as the start of another one."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy

from msgspec import Struct
from msgspec.structs import replace

from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.object import Object
from policygen.simulate.arrival import Arrival, GangSettings, PodBatch
from policygen.simulate.kueue.workload import QueuedWorkload
from policygen.simulate.over_time.job_run import JobRun
from policygen.simulate.placement.scheduler import KubeScheduler
from policygen.simulate.placement.shape import PodShape
from policygen.simulate.result import JobPreemption, JobState
from policygen.simulate.scene import Scene
from policygen.simulate.scene_schedulers import timeline
from policygen.simulate.timeline import Timeline, TimelineProgress
from policygen.simulate.why.causes import Cause, CauseKind
from policygen.simulate.why.end_causes import EndCauses

_WORKLOAD, _QUOTA = "Workload", "ResourceQuota"


class Instant(Struct, frozen=True, eq=False):
    """The running and waiting jobs at a time."""

    at: float | None
    """None: after all jobs were submitted in their order, and before one ends."""
    scene: Scene
    """With a time, it has nothing that a snapshot reports of Workloads, which is older."""
    arrivals: tuple[Arrival, ...]
    """The jobs that run or wait. Their times count from this one on."""
    runs: frozenset[str]
    """The names of those that run."""
    later: Mapping[str, float]
    """When each job arrives that is not there yet."""
    ended: Mapping[str, float]
    """When each job ended that is not there any more."""
    preemptions: Mapping[str, tuple[JobPreemption, ...]]
    gangs: Mapping[str, Cause]
    """Why Volcano does not start jobs, or that they run."""

    @property
    def running(self) -> int:
        """How many jobs run."""
        return len(self.runs)

    def state(self, name: str) -> JobState | None:
        """What a job does; None: it is not there yet."""
        if name in self.ended:
            return JobState.ENDED
        if name in self.later:
            return None
        return JobState.RUNNING if name in self.runs else JobState.WAITING


def instant(
    scene: Scene,
    arrivals: Sequence[Arrival],
    at: float | None,
    seed: int = 1,
    watch: Callable[[TimelineProgress], None] = lambda _: None,
) -> Instant:
    """Simulate jobs until a time. It changes the workloads of the arrivals.

    None: until all are submitted, in their order, and the schedulers have decided about them. No job
    ends, so this takes no time. `watch` learns how far it is.
    """
    run = timeline(scene, arrivals, seed=seed, until=at, still=at is None)
    for it in run.run():
        watch(it)
    if at is not None:
        run.settle()
    causes = EndCauses(scene, run)
    there = [it for it in run.jobs if it.has_arrived]
    return Instant(
        at=at,
        scene=_with_present(replace(scene, growing=run.growing or scene.growing), run, at),
        arrivals=tuple(_arrival(run, it, at) for it in there),
        runs=frozenset(it.arrival.name for it in there if it.running),
        later={it.arrival.name: it.arrival.at for it in run.jobs if not it.round},
        ended={it.arrival.name: it.ended for it in run.jobs if it.ended is not None},
        preemptions={it.arrival.name: tuple(it.preemptions) for it in there if it.preemptions},
        gangs={
            it.arrival.name: Cause(CauseKind.ADMITTED) if it.running else causes.of(it)
            for it in there
            if it.arrival.gang is not None
        },
    )


def _arrival(run: Timeline, job: JobRun, at: float | None) -> Arrival:
    arrival = job.arrival
    left = job.lasts if job.running else None
    if left is not None and at is not None:
        left = max(left - (at - max(job.since, 0.0)), 0.0)
    pods = tuple(_left(job, arrival.admitted().pods))
    return replace(
        arrival,
        at=min(arrival.at, 0.0) if at is None else arrival.at - at,
        left=left,
        workload=None if arrival.workload is None else _copied(arrival.workload, at),
        pods=pods,
        gang=arrival.gang if arrival.gang is None else _gang_left(job, arrival.gang),
        nodes=tuple(_nodes(run, replace(arrival, pods=pods), job)),
        created=sum(count for _, count in job.created),
    )


def _copied(workload: QueuedWorkload, at: float | None) -> QueuedWorkload:
    """The workload with its quota and place in its queue, and without the traces of earlier decisions.

    Until the time at which Kueue queues it again, it is in no queue.
    """
    found = copy(workload)
    found.evicted, found.last = False, None
    if at is None:
        return found
    found.created -= at
    if found.behind is not None:
        found.behind -= at
    if found.admission is not None:
        found.admission = replace(found.admission, at=found.admission.at - at)
    if found.retry_at is None:
        found.hold = ""
    else:
        found.retry_at -= at
    return found


def _left(job: JobRun, pods: Iterable[PodBatch]) -> Iterator[PodBatch]:
    """The pods that have not ended. Those that exist have the gates that are left."""
    for i, it in enumerate(pods):
        gates = () if job.active and it.name not in job.gated else it.gates
        yield replace(it, count=it.count - job.done[i], gates=gates)


def _gang_left(job: JobRun, gang: GangSettings) -> GangSettings:
    """The PodGroup, for which pods that have ended still count."""
    if not job.done:
        return gang
    done = job.done.total()
    of_role = {it.role: job.done[i] for i, it in enumerate(gang.tasks)}
    minimums = {
        role: max(least - of_role.get(role, 0), 0) for role, least in gang.role_minimums.items()
    }
    success = None if gang.min_success is None else gang.min_success - done
    return replace(
        gang, least=max(gang.least - done, 0), role_minimums=minimums, min_success=success
    )


def _nodes(run: Timeline, arrival: Arrival, job: JobRun) -> list[str]:
    """The nodes of the pods, in their order; empty for pods that have none, except after the last node."""
    found = [*_each_node(run, run.kube, arrival, job)] if run.kube is not None else []
    while found and not found[-1]:
        found.pop()
    return found


def _each_node(run: Timeline, kube: KubeScheduler, arrival: Arrival, job: JobRun) -> Iterator[str]:
    of_shape: dict[PodShape, list[int]] = {}
    for shape, node in job.bound:
        of_shape.setdefault(shape, []).append(node)
    for batch in arrival.pods:
        left = batch.count
        for made, count in run.shapes_of(job, batch):
            found = of_shape.get(made, [])
            for _ in range(count):
                yield kube.nodes.all[found.pop(0)].name if found else ""
            left -= count
        yield from [""] * left  # they need no node that is known


def _with_present(scene: Scene, run: Timeline, at: float | None) -> Scene:
    """The scene with what ResourceQuotas count now, and with a time without the status of Workloads."""
    quotas = run.quotas.used() if run.quotas is not None else ()
    used = {(namespace, name): amounts for namespace, name, amounts in quotas}
    if at is None and not used:
        return scene

    def now(it: Object) -> Object:
        amounts = used.get((it.namespace, it.name)) if it.kind == _QUOTA else None
        if amounts is None and (it.kind != _WORKLOAD or at is None):
            return it
        data = {field: part for field, part in it.data.items() if field != "status"}
        if amounts is not None:
            written = {key: f"{math.ceil(one * 1000)}m" for key, one in amounts.items()}
            data |= {"status": {"used": written}}
        return replace(it, data=data)

    objects = [now(it) for it in scene.cluster.objects]
    return replace(scene, cluster=Cluster(objects, scene.cluster.seen, scene.cluster.pods))
