"""Records a simulation, and sums it up per job, team and pool."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from policygen.core.quoting import listed
from policygen.kubernetes.accelerators import gpus_of, is_one, unit_of
from policygen.simulate.kueue.scheduler import PODS_READY_TIMEOUT
from policygen.simulate.kueue.state import QueueState
from policygen.simulate.kueue.workload import Admission
from policygen.simulate.over_time.job_run import JobRun
from policygen.simulate.over_time.observer import Observer
from policygen.simulate.oversized import too_large
from policygen.simulate.placement.scheduler import KubeScheduler
from policygen.simulate.placement.shape import PodShape
from policygen.simulate.quota_use import QuotaUses
from policygen.simulate.result import (
    JobResult,
    JobState,
    PoolResult,
    SimulationResult,
    TeamResult,
    middle,
    p95,
)
from policygen.simulate.scene import Scene
from policygen.simulate.stranded import CAUSES, StrandedGpus
from policygen.simulate.timeline import Timeline
from policygen.simulate.usage import Meters
from policygen.simulate.wanted_pools import WantedPools
from policygen.simulate.why.causes import Cause, CauseKind
from policygen.simulate.why.end_causes import EndCauses, PodCauses

_EXPLAINED = 1_000
"""The most different causes about quota that are computed after Ctrl-C, which takes about a second."""


class Recorder(Observer):
    """Sums what jobs of a scene use while a timeline runs."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.timeline: Timeline | None = None
        self._uses: QuotaUses | None = None
        """The GPUs of quotas, and those of pods without Kueue."""
        self.on_nodes = Meters()
        """The GPUs of pods on nodes, by pool."""
        self.stranded: defaultdict[tuple[str, str], float] = defaultdict(float)
        """GPU seconds by pool and cause."""
        self._tentative: defaultdict[tuple[str, str], float] = defaultdict(float)
        """The same since the last change; what follows the last change of all is not counted."""
        self.borrowed: dict[int, Mapping[str, int]] = {}
        """What a job borrowed at its last admission, by its index."""
        self.flavors: dict[int, tuple[str, ...]] = {}
        self._late: dict[int, Cause | None] = {}
        """Why pods of a job were not ready in time, when Kueue last evicted it, by its index."""
        self.domains: dict[int, Mapping[str, int]] = {}
        """The pods of a job by topology domain at its last admission, by its index."""
        self._pool_of_flavor = {it: pool.name for pool in scene.pools for it in pool.flavors}
        self._pool_of_node = {it: pool.name for pool in scene.pools for it in pool.nodes}
        self._requested: dict[int, tuple[int, str, object]] = {}
        """Accelerators and their unit, by the id of pods. The pods are kept, so that no others get their id."""
        self._idle: Mapping[tuple[str, str], int] = {}
        self._since = 0.0
        self._too_large = too_large(scene)
        self._wanted: WantedPools | None = None
        self._stranded: StrandedGpus | None = None

    def follow(self, timeline: Timeline) -> None:
        """The timeline that it observes."""
        self.timeline = timeline
        self._uses = QuotaUses(self.scene, timeline)
        self._wanted = WantedPools(self.scene, timeline)
        self._stranded = StrandedGpus(self.scene, timeline, self._wanted)

    def holds(self, now: float, job: JobRun) -> None:
        """Its quota is in use."""
        admission = job.workload.admission if job.workload is not None else None
        if admission is None:
            return
        self.flavors[job.index] = tuple(
            dict.fromkeys(it for one in admission.pod_sets for it in sorted(one.flavors.values()))
        )
        self.domains[job.index] = self._domains(admission)
        self._hold(now, job, 1)
        self.borrowed[job.index] = dict(self._borrows(job))

    def _domains(self, admission: Admission) -> Mapping[str, int]:
        state, placements = self._state, admission.placements()
        if state is None or not placements:
            return {}
        found: Counter[str] = Counter()
        for placement in placements:
            for leaf, count in placement.pods.items():
                found[state.topologies[placement.flavor].above(leaf)] += count
        del found[""]
        return dict(sorted(found.items()))

    def frees(self, now: float, job: JobRun) -> None:
        """Its quota is free."""
        if self.timeline is not None and job.unbound and not job.running and _is_late(job):
            self._late[job.index] = PodCauses(self.timeline).of(job)
        if job.workload is not None and job.workload.admission is not None:
            self._hold(now, job, -1)

    def binds(self, now: float, job: JobRun, shape: PodShape, node: int, count: int) -> None:
        """A node is in use."""
        amount = sum(it for name, it in shape.requests if is_one(name))
        pool = self._pool_of_node.get(self._kube.nodes.all[node].name)
        if amount and pool is not None:
            self.on_nodes.add(now, (pool,), count * amount)
            if job.workload is None:
                amounts = {(pool, name): it for name, it in shape.requests if it and is_one(name)}
                self._quota_uses.add(now, job, amounts, count)

    def passes(self, now: float) -> None:
        """GPUs were free until now, for some cause."""
        for key, amount in self._idle.items():
            self._tentative[key] += amount * (now - self._since)
        if self.timeline is None or self.timeline.last == now:
            self._commit()
        self._since = now
        if self._stranded is not None:
            self._idle = dict(self._stranded.now(self._used_now()))

    def result(self, *, partial: bool = False) -> SimulationResult:
        """What was found until now."""
        timeline = self._timeline
        end = timeline.ends
        if end >= self._since:
            self.passes(end)
            self._commit()
        causes = EndCauses(self.scene, timeline, _EXPLAINED if partial else None)
        idle = timeline.until is None and timeline.finished and not partial
        arrived = [it for it in timeline.jobs if it.round]
        jobs = tuple(
            self._job(
                it, end, causes.of(it, self._late.get(it.index)) if _waits(it) else None, idle
            )
            for it in arrived
        )
        wanted = WantedPools(self.scene, timeline) if self._wanted is None else self._wanted
        waiting = [wanted.of_job(it) if _waits(it) else frozenset() for it in arrived]
        return SimulationResult(
            jobs=jobs,
            teams=tuple(self._teams(jobs, end)),
            pools=tuple(self._pools(jobs, waiting, end)),
            groups=self._quota_uses.groups(end),
            until=end,
            later=tuple(it.arrival.name for it in timeline.jobs if not it.round),
            livelocks=tuple(timeline.livelocks),
            partial=partial,
            unexplained=causes.skipped,
        )

    def _used_now(self) -> Mapping[str, int]:
        """The GPUs in use, by pool."""
        meters = self._quota_uses.meters if self._timeline.kube is None else self.on_nodes
        found = {pool.name: meters.of.get((pool.name,)) for pool in self.scene.pools}
        return {name: it.amount for name, it in found.items() if it is not None}

    def _commit(self) -> None:
        for key, amount in self._tentative.items():
            self.stranded[key] += amount
        self._tentative.clear()
        self.on_nodes.settled = self._since
        if self._uses is not None:
            self._uses.meters.settled = self._since

    @property
    def _timeline(self) -> Timeline:
        if self.timeline is None:
            raise RuntimeError
        return self.timeline

    @property
    def _kube(self) -> KubeScheduler:
        kube = self._timeline.kube
        if kube is None:
            raise RuntimeError
        return kube

    @property
    def _state(self) -> QueueState | None:
        kueue = self._timeline.kueue
        return kueue.state if kueue is not None else None

    @property
    def _pairs(self) -> Sequence[tuple[str, str]]:
        state = self._state
        return state.pairs if state is not None else ()

    @property
    def _quota_uses(self) -> QuotaUses:
        if self._uses is None:
            raise RuntimeError
        return self._uses

    def _hold(self, now: float, job: JobRun, sign: int) -> None:
        amounts: dict[tuple[str, str], int] = {}
        for pool, pair, amount in self._gpus(job):
            key = pool, self._pairs[pair][1]
            amounts[key] = amounts.get(key, 0) + amount
        self._quota_uses.add(now, job, amounts, sign)

    def _gpus(self, job: JobRun) -> Iterator[tuple[str, int, int]]:
        """The accelerators of its admission: the pool, the index of the pair, and the amount."""
        admission = job.workload.admission if job.workload is not None else None
        state = self._state
        if admission is None or state is None:
            return
        for pair, amount in admission.usage:
            flavor, resource = state.pairs[pair]
            if is_one(resource):
                yield self._pool_of_flavor.get(flavor, flavor), pair, amount

    def _borrows(self, job: JobRun) -> Iterator[tuple[str, int]]:
        state = self._state
        if state is None or job.workload is None:
            return
        node = state.queue_of(job.workload).node
        found: dict[str, int] = {}
        for pool, pair, amount in self._gpus(job):
            more = max(0, min(amount, node.usage[pair] - node.nominal[pair]))
            found[pool] = found.get(pool, 0) + more
        yield from ((pool, amount) for pool, amount in found.items() if amount)

    def _job(self, job: JobRun, end: float, cause: Cause | None, idle: bool) -> JobResult:
        """`cause` is why it waits. `idle`: nothing happens any more, so that a job which waits never starts."""
        arrival, workload = job.arrival, job.workload
        if cause is not None and not idle and cause.never is None and not arrival.unknown:
            cause = replace(cause, never=self._too_large(arrival))
        state = self._state
        queue = ""
        if workload is not None and state is not None:
            queue = state.local_queues.get(workload.queue, "")
        reason, message = ("", "") if cause is None else self._why(job, cause)
        names = self._kube.nodes.all if self._timeline.kube is not None else ()
        nodes: Mapping[int, int] = job.last_nodes
        if job.bound and job.unbound:
            nodes = Counter(node for _, node in job.bound)
        amount, what = self._accelerators(job)
        return JobResult(
            name=arrival.name,
            kind=arrival.kind,
            team=arrival.team,
            model=arrival.model,
            queue=queue,
            submitted=arrival.at,
            duration=arrival.duration,
            gpus=amount,
            unit=what,
            admitted=job.admitted if workload is not None else None,
            started=job.started,
            ended=job.ended,
            waited=self._timeline.waited(job),
            ran=job.ran + (max(end - max(job.since, 0.0), 0.0) if job.running else 0.0),
            running=job.running,
            pods=sum(it.count for it in arrival.pods),
            refused=job.refused,
            pod_starts=tuple((at, count) for at, count in sorted(job.pod_starts.items()) if count),
            gpu_seconds=job.work.until(end),
            lost_gpu_seconds=job.work.lost,
            flavors=self.flavors.get(job.index, ()),
            borrowed=self.borrowed.get(job.index, {}),
            domains=self.domains.get(job.index, {}),
            nodes={names[it].name: count for it, count in sorted(nodes.items()) if count > 0},
            preempted=job.preempted,
            evicted=job.evicted,
            evicted_for=job.evicted_for,
            preemptions=tuple(job.preemptions),
            preempts=tuple(job.preempts),
            lost=job.lost,
            reason=reason,
            message=message,
            cause=cause,
            never=cause is not None and not arrival.unknown and (idle or cause.lasts or job.failed),
            either=job.either,
        )

    def _accelerators(self, job: JobRun) -> tuple[int, str]:
        """The accelerators that all its pods request, and what one of them is. Equal jobs share their pods."""
        pods = job.arrival.pods if job.workload is None else job.workload.pod_sets
        found = self._requested.get(id(pods))
        if found is None:
            found = self._requested[id(pods)] = gpus(job), unit(job), pods
        return found[:2]

    @staticmethod
    def _why(job: JobRun, cause: Cause) -> tuple[str, str]:
        """Why a job waits, as the scheduler reports it."""
        if job.reason:
            return job.reason, job.message
        if job.active and cause.kind is CauseKind.NO_NODES:
            return "Unschedulable", cause.message
        if cause.kind is CauseKind.NODE_REJECTS:
            return "Failed", cause.message
        if cause.kind is CauseKind.PODS_REFUSED:
            return "FailedCreate", cause.message
        if cause.kind is CauseKind.GATED:
            return "SchedulingGated", f"scheduling gate {listed([*cause.names])}"
        if job.workload is not None:
            return job.workload.reason, job.workload.message
        return "", ""

    def _teams(self, jobs: tuple[JobResult, ...], end: float) -> Iterator[TeamResult]:
        uses = self._quota_uses.teams(end)
        of_team: dict[str, list[JobResult]] = {}
        for it in jobs:
            of_team.setdefault(it.team, []).append(it)
        for team in sorted({*of_team, *uses}):
            own = of_team.get(team, [])
            waits = [it.wait for it in own]
            yield TeamResult(
                name=team,
                jobs=len(own),
                started=sum(it.started is not None for it in own),
                finished=sum(it.ended is not None for it in own),
                waiting_median=middle(waits),
                waiting_p95=p95(waits),
                preempted=sum(it.preempted for it in own),
                gpu_seconds=sum(it.gpu_seconds for it in own),
                lost_gpu_seconds=sum(it.lost_gpu_seconds for it in own),
                uses=uses.get(team, ()),
                never=sum(it.state is JobState.NEVER for it in own),
            )

    def _pools(
        self, jobs: tuple[JobResult, ...], waiting: Sequence[frozenset[str]], end: float
    ) -> Iterator[PoolResult]:
        """`waiting` has for each job the pools for which it waits."""
        meters = self._quota_uses.meters if self._timeline.kube is None else self.on_nodes
        for pool in self.scene.pools:
            meter = meters.of.get((pool.name,))
            waits = [
                it.wait
                for it, pools in zip(jobs, waiting, strict=True)
                if it.gpus
                and (
                    pool.name in pools
                    or pool.flavors & {*it.flavors}
                    or pool.nodes & it.nodes.keys()
                )
            ]
            used = meter.until(end) if meter is not None else 0.0
            yield PoolResult(
                name=pool.name,
                gpus=pool.gpus,
                jobs=len(waits),
                waiting_median=middle(waits),
                waiting_p95=p95(waits),
                used_mean=used / end if end > 0 else 0.0,
                used_most=meter.most if meter is not None else 0,
                stranded={
                    cause: self.stranded[pool.name, cause]
                    for cause in CAUSES
                    if self.stranded[pool.name, cause]
                },
                unit=pool.unit,
                most_nodes=self._timeline.most_nodes.get(pool.name),
            )


def gpus(job: JobRun) -> int:
    """The accelerators that all its pods request."""
    if job.workload is not None:
        return sum(
            it.count * amount
            for it in job.workload.pod_sets
            for name, amount in it.requests
            if is_one(name)
        )
    return sum(it.count * gpus_of(it.spec.requests) for it in job.arrival.pods)


def unit(job: JobRun) -> str:
    """What one of these accelerators is."""
    if job.workload is not None:
        return unit_of(name for it in job.workload.pod_sets for name, n in it.requests if n)
    return unit_of(name for it in job.arrival.pods for name, n in it.spec.requests.items() if n)


def _waits(job: JobRun) -> bool:
    return not job.running and job.ended is None


def _is_late(job: JobRun) -> bool:
    """Whether Kueue evicts it because its pods were not ready in time."""
    return job.workload is not None and job.workload.reason == PODS_READY_TIMEOUT
