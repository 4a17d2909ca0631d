"""What Kueue and kube-scheduler decide over time: jobs arrive, wait, run, end, and are preempted.

Times are seconds. Scheduling takes no time, pods start at once, and the pods of a victim end at once. A
job begins to run when all its pods run. After a preemption it begins again. A job of Volcano begins when
enough of its pods run; each of its pods then runs for the same time, and it ends with the last one.
"""

import heapq
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from math import inf

from msgspec import Struct

from policygen.core.suggest import suggest
from policygen.kubernetes.accelerators import gpus_of
from policygen.kubernetes.workloads import PodSpec
from policygen.simulate.arrival import Arrival, GangSettings, PodBatch
from policygen.simulate.assumptions import NOTHING_ASSUMED, Assumptions
from policygen.simulate.kueue.entry import CycleEntry, Outcome
from policygen.simulate.kueue.quota import QuotaNode
from policygen.simulate.kueue.scheduler import Scheduler
from policygen.simulate.kueue.victims import PreemptionReason
from policygen.simulate.kueue.workload import PodSetAdmission, QueuedWorkload
from policygen.simulate.placement.preemption import RunningPod, best, preemptions
from policygen.simulate.placement.scheduler import KubeScheduler
from policygen.simulate.placement.shape import PodShape
from policygen.simulate.pod_quotas import PodQuotas, existing
from policygen.simulate.result import POD_PRIORITY, JobPreemption
from policygen.simulate.usage import WorkMeter
from policygen.simulate.volcano.gangs import gang_job, running_task
from policygen.simulate.volcano.job import Phase, TaskStatus, VolcanoJob, VolcanoTask
from policygen.simulate.volcano.scheduler import SessionEntry, VolcanoScheduler

_SESSIONS = 200
"""With more sessions of Volcano at one time, its jobs evict each other again and again."""
_SAME_PODS = 10
"""After evictions by Volcano led so often to jobs with as many pods as before, they do so without end.

More often than `_REPEATS`, because other pods of these jobs can leave each time.
"""
RETRY_AFTER_S = 1.0
"""Kueue collects changes so long before it tries inadmissible workloads again (requeueBatchPeriod)."""
NODES_RETRY_S = 10.0
"""Kueue collects ends of pods that it did not place at most so long (defaultRequeueBatchInterval)."""

_FIRST_BACKOFF_S, _MOST_BACKOFF_S = 10.0, 600.0
"""How long a Job waits after its first failed pod, and at most."""
_DOUBLED = 6
"""After more failed pods, a Job waits for the longest time."""

_REPEATS = 3
"""After preemptions led so often to the same state, and no job arrived or ended, they do so without end."""

_QUEUES = "queue"
_PREEMPTIONS = frozenset(it.value for it in PreemptionReason)
Shapes = Callable[[Arrival, PodBatch, Mapping[str, str], Mapping[str, str]], PodShape | None]
"""Makes the shape of pods with the flavors of their resources, and the labels of their topology domain.

None: they need no node that is known.
"""


@dataclass(slots=True, eq=False)
class JobRun:
    """A job, and what became of it until now."""

    arrival: Arrival
    index: int = 0
    """In the order of arrivals."""
    admitted: float | None = None
    """When it was admitted for the first time, or may create its pods without Kueue."""
    started: float | None = None
    """When all its pods ran for the first time."""
    ended: float | None = None
    waited: float = 0.0
    """The time in which not all its pods ran, until it ended or the simulation did."""
    preempted: int = 0
    evicted: int = 0
    """How often it was evicted for another reason, such as pods that were not ready in time."""
    evicted_for: str = ""
    """The last such reason."""
    preemptions: list[JobPreemption] = field(default_factory=list)
    """Those of this job, in their order."""
    preempts: dict[str, None] = field(default_factory=dict)
    ran: float = 0.0
    """The time that all its pods ran, until they last ended."""
    lost: float = 0.0
    """The part of it without effect, because the job had to begin again."""
    work: WorkMeter = field(default_factory=WorkMeter)
    """The GPU seconds of its pods that run."""
    lasts: float | None = None
    """How long it runs with the pods that it has; None: until the simulation ends."""
    pod_starts: Counter[float] = field(default_factory=Counter)
    """How many of its pods started at which times, since it last began."""
    done: Counter[int] = field(default_factory=Counter)
    """How many of its pods have ended while others run or wait, by the index of the pods."""
    active: bool = False
    """Whether its pods exist."""
    running: bool = False
    """Whether all its pods run."""
    bound: list[tuple[PodShape, int]] = field(default_factory=list)
    """Its pods on nodes."""
    unbound: int = 0
    """Its pods that do not run."""
    gated: dict[str, list[tuple[float, PodShape | None]]] = field(default_factory=dict)
    """Those that scheduling gates hold, by their batch, with the time at which the gates are removed."""
    last_nodes: Counter[int] = field(default_factory=Counter)
    """The number of its pods by node, when it last ran."""
    created: list[tuple[PodSpec, int]] = field(default_factory=list)
    """Its pods that ResourceQuotas count, by their spec."""
    ahead: int = 0
    """How many of these existed from the start, and are not needed yet."""
    rejected: list[PodShape] = field(default_factory=list)
    """Its pods that name a node which rejects them."""
    failed: bool = False
    """Whether its controller gave up."""
    checked: Counter[str] = field(default_factory=Counter)
    """How many outcomes each of its admission checks had."""
    reason: str = ""
    message: str = ""
    either: bool = False
    """Where the schedulers leave it to chance, it may as well come out otherwise."""
    since: float = 0.0
    """When it began to wait, or to run."""
    round: int = 0
    """Grows when its pods end, so that events about earlier pods are known to be old."""
    workload: QueuedWorkload | None = field(init=False)
    """What Kueue knows of it."""

    def __post_init__(self) -> None:
        self.workload = self.arrival.workload

    @property
    def has_arrived(self) -> bool:
        """Whether it was submitted, and has not ended or failed."""
        return self.ended is None and self.round > 0 and not self.failed

    def starts(self, now: float, pods: int, gpus: int) -> None:
        """Its pods run, or enough of them; so many more than before, and with so many GPUs."""
        self.running = True
        if self.started is None:
            self.started = now
        self.waited += now - self.since
        self.since = now
        self.pod_starts[now] += pods
        self.work.change(now, gpus)
        if self.bound:
            nodes = Counter([node for _, node in self.bound])
            self.last_nodes = self.last_nodes + nodes if self.done else nodes

    def stops(self, now: float, *, preempted: bool = True) -> None:
        """It has to begin again, because it is preempted, or for another reason."""
        self.preempted += preempted
        self.evicted += not preempted
        if self.running:
            self.lost += now - self.since
            self.work.begin_again(now)
        self.pod_starts.clear()
        self.leaves(now)

    def leaves(self, now: float) -> None:
        """Not all its pods run any more."""
        if self.running:
            self.ran += now - max(self.since, 0.0)
            self.since = now
            self.work.change(now, 0)
        self.running = False


class TimelineProgress(Struct, frozen=True):
    """How far a simulation is."""

    now: float
    arrived: int
    ended: int
    jobs: int


class TimelineEvent(IntEnum):
    """What happens at a time; at equal times in this order."""

    END = 0
    ARRIVAL = 1
    RETRY = 2
    DUE = 3
    """A wait of Kueue is over: for pods to be ready, for their end, or after an eviction."""
    CHECK = 4
    """An admission check has an outcome."""
    GATE = 5
    """Scheduling gates are removed."""
    GIVE_UP = 6
    """The controller of pods that a kubelet rejects creates no more."""


class RefusedPods(Struct, frozen=True, eq=False):
    """Pods of a job that a ResourceQuota refuses."""

    job: JobRun
    round: int
    """That of the job; at another one, they are not wanted any more."""
    batch: PodBatch
    shape: PodShape | None
    """That of admitted pods, if they need a known node."""
    count: int


class Observer:
    """Learns what happens. All methods do nothing here."""

    def holds(self, now: float, job: JobRun) -> None:
        """A job holds quota, or nodes, from now on."""

    def frees(self, now: float, job: JobRun) -> None:
        """It does not any more. Its admission is still set."""

    def binds(self, now: float, job: JobRun, shape: PodShape, node: int, count: int) -> None:
        """A pod of it is bound to a node (count is 1), or ends (-1)."""

    def passes(self, now: float) -> None:
        """All that happens at a time has happened."""


class Timeline:
    """Runs the schedulers over time.

    `kueue` must know the LocalQueue of a workload, or the job waits for ever. Without `kube`, nodes are
    not known, and pods start when they are admitted. With `still`, no job ends and no wait of Kueue is
    over: jobs arrive in their order, and the schedulers decide until nothing changes any more.
    """

    def __init__(  # noqa: PLR0913 - the schedulers, what arrives, and who looks on
        self,
        arrivals: Iterable[Arrival],
        kueue: Scheduler | None = None,
        kube: KubeScheduler | None = None,
        *,
        volcano: VolcanoScheduler | None = None,
        shapes: Shapes = lambda *_: None,
        assumptions: Assumptions = NOTHING_ASSUMED,
        quotas: PodQuotas | None = None,
        until: float | None = None,
        still: bool = False,
        observer: Observer | None = None,
    ) -> None:
        self.kueue, self.kube, self.volcano = kueue, kube, volcano
        self.jobs = [JobRun(it, i) for i, it in enumerate(arrivals)]
        self.until = until
        self.still = still
        self.livelocks: dict[tuple[str, ...], None] = {}
        """Jobs that preempt each other again and again."""
        self.now = 0.0
        self.last = 0.0
        """The last time at which a job arrived, started or ended."""
        self._timed = 0
        """How many jobs run that will end."""
        self.cycles = 0
        queues = kueue.state.queues.values() if kueue is not None else ()
        self._longest_scan = max(
            (len(group.flavors) for it in queues for group in it.groups), default=0
        )
        """The most cycles without an admission while a workload tries one flavor after the other."""
        self._shapes = shapes
        self._assumptions = assumptions
        self.quotas = quotas
        """With the pods that exist from the start; None: there are none."""
        self._refused: list[RefusedPods] = []
        self._rejecting: dict[JobRun, None] = {}
        """The jobs with pods that a kubelet rejects, in their order."""
        self._freed = False
        """Whether pods ended that ResourceQuotas count."""
        self._observer = observer or Observer()
        self._by_workload = {it.workload.name: it for it in self.jobs if it.workload is not None}
        self._gangs: dict[str, JobRun] = {}
        """The jobs that Volcano schedules, by name."""
        self._gang_changes = False
        """Whether sessions of Volcano may have other results now."""
        self._arrived = self._ended = 0
        self._retries: set[QuotaNode] = set()
        self._states: Counter[frozenset[str]] = Counter()
        """The admitted workloads after preemptions, since jobs last arrived or ended."""
        self._fighting: set[str] = set()
        """The jobs of these preemptions, since a state came back."""
        self._stalled: set[QuotaNode] = set()
        """The roots of trees in a livelock, which are not tried again until jobs arrive or end."""
        self._due: float | None = None
        """The time of the next event DUE."""
        self._waiting: dict[tuple[int, PodShape], deque[tuple[int, JobRun, int]]] = {}
        """Pods without a node, by priority and shape: a number in their order, the job and its round."""
        self._number = 0
        self._full: set[PodShape] = set()
        """Shapes for which no node had room since pods last ended."""
        self._priorities: Counter[int] = Counter()
        """Of the pods on nodes."""
        self._events = [
            (max(it.arrival.at, 0.0), TimelineEvent.ARRIVAL, it.index, "", 0)
            for it in self.jobs
            if not _runs_already(it)
        ]
        heapq.heapify(self._events)
        self._begun = False

    @property
    def waiting(self) -> Iterator[tuple[PodShape, int]]:
        """The shapes of pods that wait for a node, and their number."""
        for (_, shape), pods in self._waiting.items():
            count = sum(job.round == round_ for _, job, round_ in pods)
            if count:
                yield shape, count

    def waiting_of(self, job: JobRun) -> Iterator[PodShape]:
        """The shapes of pods of a job that wait for a node."""
        if job.arrival.gang is not None:
            return
        yield from job.rejected
        for (_, shape), pods in self._waiting.items():
            if any(it is job and round_ == job.round for _, it, round_ in pods):
                yield shape

    def shapes_of(self, job: JobRun, batch: PodBatch) -> Iterator[tuple[PodShape, int]]:
        """The shapes of admitted pods that need a known node, and the number of each."""
        for labels, count in self._domains(job, batch):
            shape = self._shapes(job.arrival, batch, _flavors(job, batch.name), labels)
            if shape is not None:
                yield shape, count

    @property
    def finished(self) -> bool:
        """Whether nothing happens any more."""
        if not self._events:
            return True
        after = self._events[0][0]
        if self.until is not None:
            return after > self.until
        is_idle = self._arrived == len(self.jobs) and not self._timed
        return is_idle and after > self.last + self._patience

    @property
    def _patience(self) -> float:
        """If nothing starts for so long while no job will end, the same waits only repeat."""
        rule = self.kueue.state.pods_ready if self.kueue is not None else None
        waits = [self._assumptions.longest] if self._assumptions.checks else []
        if rule is not None:
            waits.append(rule.timeout + rule.most)
        return 2 * sum(waits) if waits else inf

    @property
    def ends(self) -> float:
        """The time at which it ended: the given one, or that of the last change."""
        return self.last if self.until is None or not self.finished else self.until

    def run(self) -> Iterator[TimelineProgress]:
        """Run until nothing happens any more, or until the given time; yields after each time.

        The caller may stop in between: what was found until then is known.
        """
        if not self._begun:
            self._begun = True
            self._resume_all()
            if self.kueue is not None:
                self.kueue.begin(self.now)
                self._evict(self.kueue)
                self._schedule(self.kueue)
            if not self._events or self._events[0][0] > 0:  # pods can wait for a node
                heapq.heappush(self._events, (0.0, TimelineEvent.DUE, 0, "", 0))
        while not self.finished:
            self.now = max(self.now, self._events[0][0])
            while self._events and self._events[0][0] <= self.now:
                self._happens(*heapq.heappop(self._events)[1:])
            if self.kueue is not None:
                self._schedule(self.kueue)
            if self._freed and self._refused:
                self._create_refused()
            self._place()
            self._retry_rejected()
            if self.volcano is not None and self._gang_changes:
                self._run_sessions(self.volcano)
            self._observer.passes(self.now)
            yield TimelineProgress(self.now, self._arrived, self._ended, len(self.jobs))

    def waited(self, job: JobRun) -> float:
        """How long a job waited until now."""
        more = not job.running and job.has_arrived
        return job.waited + (max(self.ends - job.since, 0.0) if more else 0.0)

    def _happens(self, what: TimelineEvent, index: int, name: str, round_: int) -> None:
        """`name` is that of a root, or as in `_goes_on`."""
        if what is not TimelineEvent.RETRY:
            self._states.clear()
            self._fighting.clear()
            self._retry_after(RETRY_AFTER_S, self._stalled)
            self._stalled.clear()
        if what is TimelineEvent.DUE:
            self._due = None
            if self.kueue is not None:
                self.kueue.tick(self.now)
                self._evict(self.kueue)
            return
        if what is TimelineEvent.RETRY:
            roots = {it for it in self._retries if it.name == name}
            self._retries -= roots
            if self.kueue is not None:
                self.kueue.retry(roots)
            return
        job = self.jobs[index]
        if what is TimelineEvent.ARRIVAL:
            self._arrives(job)
        elif job.round == round_:
            self._goes_on(what, job, name)

    def _goes_on(self, what: TimelineEvent, job: JobRun, name: str) -> None:
        """`name` is that of an admission check or a batch of pods."""
        if what is TimelineEvent.CHECK and self.kueue is not None:
            self._check(self.kueue, job, name)
            self._evict(self.kueue)
        elif what is TimelineEvent.GATE:
            self._open_gates(job, name)
        elif what is TimelineEvent.GIVE_UP and job.rejected:
            self._fails(job)
        elif what is TimelineEvent.END and job.running:
            if job.arrival.gang is None or self.volcano is None:
                self._ends(job)
            else:
                self._pods_end(self.volcano, job, job.arrival.gang)

    def _arrives(self, job: JobRun) -> None:
        self._arrived += 1
        self.last = self.now
        job.since = job.arrival.at
        job.round = 1
        workload = job.workload
        if job.arrival.refusal:
            job.reason = "NotSimulated" if job.arrival.unknown else "NeverStarts"
            job.message = job.arrival.refusal
        elif job.arrival.gang is not None:
            self._submit(job, job.arrival.gang)
        elif workload is None:
            self._observer.holds(self.now, job)
            self._admit(job)
        elif self.kueue is None or (missing := self._missing_queue(self.kueue, workload)):
            job.reason = "Inadmissible"
            job.message = missing if self.kueue is not None else "Kueue is not known"
        elif not job.arrival.is_of_pods or self._creates_pods(job):
            self.kueue.submit(workload)

    @staticmethod
    def _missing_queue(kueue: Scheduler, workload: QueuedWorkload) -> str:
        """Why no queue takes a workload, in Kueue's words; empty: one does."""
        namespace, _, name = workload.queue.partition("/")
        queue = kueue.state.local_queues.get(workload.queue)
        if queue is None:
            others = (it.split("/", 1) for it in kueue.state.local_queues)
            advice = suggest(name, (it for within, it in others if within == namespace), _QUEUES)
            return f"LocalQueue {name} doesn't exist in namespace {namespace}; {advice}"
        if queue in kueue.state.queues:
            return ""
        return f"ClusterQueue {queue} doesn't exist; {suggest(queue, kueue.state.queues, _QUEUES)}"

    def _resume_all(self) -> None:
        """Take over what exists from the start."""
        for it in self.jobs if self.quotas else ():
            it.created = list(existing(it.arrival))
            it.ahead = sum(count for _, count in it.created)
        for job in filter(_runs_already, self.jobs):
            self._resume(job)

    def _resume(self, job: JobRun) -> None:
        """The job was admitted before the start."""
        self._arrived += 1
        arrival, workload = job.arrival, job.workload
        if arrival.gang is not None and self._resume_gang(job, arrival.gang):
            return
        if self.kueue is not None and workload is not None and workload.pending_checks:
            job.round, job.since = 1, arrival.at
            self._reserve(self.kueue, job)
            return
        at = arrival.at if workload is None or workload.admission is None else workload.admission.at
        job.admitted, job.round, job.active = at, 1, True
        if self.kube is not None:
            for batch, shape, node in self._resumed(job):
                found = self.kube.nodes.index.get(node)
                if shape is not None and found is not None:
                    self.kube.bind(shape, found)
                    self._bind(job, shape, found)
                elif not node:
                    self._create(job, batch, shape, 1)
                job.ahead -= bool(node)
        job.since = arrival.at
        self._observer.holds(self.now, job)
        job.lasts = arrival.duration
        if not job.unbound:
            job.starts(at, *_size(job))
            self._end_later(job, self.now)

    def _resumed(self, job: JobRun) -> Iterator[tuple[PodBatch, PodShape | None, str]]:
        """The shapes of all pods of a job that was admitted before, and their nodes; empty: none yet."""
        nodes = iter(job.arrival.nodes)
        for batch in job.arrival.pods:
            flavors, admitted = _flavors(job, batch.name), _admitted(job, batch.name)
            bound = self._shapes(job.arrival, batch, flavors, {})
            count = batch.count if admitted is None else admitted.count
            own = [next(nodes, "") for _ in range(count)]
            left = (
                labels for labels, missing in self._domains(job, batch, own) for _ in range(missing)
            )
            for node in own:
                if node:
                    yield batch, bound, node
                else:
                    yield batch, self._shapes(job.arrival, batch, flavors, next(left, {})), node

    def _resume_gang(self, job: JobRun, gang: GangSettings) -> bool:
        """Volcano started the job before; false: its queue is not known."""
        kube, volcano, arrival = self.kube, self.volcano, job.arrival
        if kube is None or volcano is None or gang.queue not in volcano.state.queues:
            return False
        shapes = [self._shapes(arrival, it, {}, {}) for it in arrival.pods]
        made = gang_job(arrival, gang, shapes, arrival.at)
        made.phase = Phase.RUNNING
        nodes = iter(arrival.nodes)
        for task in [*made.unborn, *made.tasks.values()]:
            node = kube.nodes.index.get(next(nodes, ""))
            if node is not None:
                if task.name in made.tasks:
                    made.remove(task)
                task.node, task.status = node, TaskStatus.RUNNING
            if task.name not in made.tasks:
                made.add(task)
        made.unborn.clear()
        job.admitted, job.round, job.active, job.since = arrival.at, 1, True, arrival.at
        self._gangs[made.name] = job
        self._gang_changes = True
        volcano.submit(made)
        self._observer.holds(self.now, job)
        for task in made.by_status[TaskStatus.RUNNING].values():
            kube.bind(task.shape, task.at)
            self._bind(job, task.shape, task.at)
        job.unbound = len(made.tasks) - len(job.bound)
        if made.ready:
            job.lasts = arrival.duration
            job.starts(arrival.at, *self._begin_pods(made, arrival.at))
            self._end_later(job, self.now)
        return True

    def _end_later(self, job: JobRun, now: float) -> None:
        if job.lasts is not None and not self.still:
            self._timed += 1
            self._end_at(job, now + job.lasts)

    def _end_at(self, job: JobRun, time: float) -> None:
        heapq.heappush(self._events, (time, TimelineEvent.END, job.index, "", job.round))

    def _untime(self, job: JobRun) -> None:
        """It does not run any more."""
        if job.running and job.lasts is not None and not self.still:
            self._timed -= 1

    def _pods_end(self, volcano: VolcanoScheduler, job: JobRun, settings: GangSettings) -> None:
        """Pods of a job of Volcano end. The job ends with them, or its other pods go on."""
        gang = volcano.state.jobs[job.arrival.name]
        for task in [*gang.by_status[TaskStatus.RUNNING].values()]:
            if (
                task.began is None
                or job.lasts is None
                or max(task.began, 0.0) + job.lasts > self.now
            ):
                continue
            job.work.end_pod(self.now, gpus_of(dict(task.shape.requests)), task.began, lost=False)
            self._unbind(job, task.shape, task.at)
            job.bound.remove((task.shape, task.at))
            volcano.complete(task)
            job.done[task.batch] += 1
        self._full.clear()
        counts = [it.count for it in job.arrival.pods]
        if (
            len(gang.tasks) == gang.count(TaskStatus.SUCCEEDED)
            or (settings.min_success or len(gang.tasks) + 1) <= job.done.total()
            or any(it.completes and job.done[i] == counts[i] for i, it in enumerate(settings.tasks))
        ):
            self._ends(job)
        elif not job.bound:  # its other pods wait
            self._untime(job)
            job.leaves(self.now)
            job.round += 1

    def _begin_pods(self, gang: VolcanoJob, now: float) -> tuple[int, int]:
        """The pods on nodes that do not run yet begin: their number, and the GPUs of all that run then."""
        running = gang.by_status[TaskStatus.RUNNING].values()
        more = [it for it in running if it.began is None]
        for it in more:
            it.began = now
        return len(more), sum(gpus_of(dict(it.shape.requests)) for it in running)

    def _ends(self, job: JobRun) -> None:
        self._ended += 1
        self.last = self.now
        self._untime(job)
        job.leaves(self.now)
        self._leave(job)
        self._delete_pods(job)
        job.ended = self.now
        job.reason = job.message = ""
        if self.kueue is not None and job.workload is not None:
            self.kueue.finish(job.workload, self.now)
        if self.volcano is not None and job.arrival.gang is not None:
            self.volcano.finish(self.volcano.state.jobs[job.arrival.name])

    def _leave(self, job: JobRun) -> None:
        """Its pods end."""
        self._observer.frees(self.now, job)
        for shape, node in job.bound:
            self._unbind(job, shape, node)
        if job.bound:
            self._full.clear()
        job.bound = []
        job.unbound = 0
        job.done.clear()
        job.gated.clear()
        job.rejected.clear()
        job.round += 1
        job.active = job.running = False

    def _schedule(self, kueue: Scheduler) -> None:
        """Run Kueue's cycles until nothing more can be admitted at this time."""
        seen: set[frozenset[str]] = set()
        preempts = False
        quiet, left = 0, kueue.to_try()
        while left and quiet <= self._longest_scan:
            self.cycles += 1
            before = left
            entries = kueue.cycle(self.now)
            done = self._apply(kueue, entries)
            left = kueue.to_try()
            if not done:
                # A workload that was parked makes room for the next one of its queue.
                quiet = 0 if left < before else quiet + 1
                continue
            quiet = 0
            if any(it.outcome is Outcome.PREEMPTING for it in entries):
                preempts = True
                admitted = _admitted_workloads(kueue)
                if admitted in seen:
                    self._livelock(entries)
                    break
                seen.add(admitted)
        due = None if self.still else kueue.next_time()
        if due is not None and (self._due is None or due < self._due):
            self._due = due
            heapq.heappush(self._events, (due, TimelineEvent.DUE, 0, "", 0))
        changed, freed = kueue.changed(), kueue.freed()
        if preempts and self._repeats(kueue):
            self._stalled |= changed | freed
        else:
            self._retry_after(RETRY_AFTER_S, changed)
            self._retry_after(NODES_RETRY_S, freed)

    def _retry_after(self, after: float, roots: Iterable[QuotaNode]) -> None:
        """Try the inadmissible workloads of these trees again later."""
        for root in set(roots) - self._retries:
            self._retries.add(root)
            event = (self.now + after, TimelineEvent.RETRY, 0, root.name, 0)
            heapq.heappush(self._events, event)

    def _repeats(self, kueue: Scheduler) -> bool:
        """Whether each retry leads to the same preemptions."""
        state = _admitted_workloads(kueue)
        self._states[state] += 1
        if self._states[state] == _REPEATS - 1:
            self._fighting.clear()
        if self._states[state] < _REPEATS:
            return False
        self.livelocks[tuple(sorted(self._fighting))] = None
        return True

    def _livelock(self, entries: Iterable[CycleEntry]) -> None:
        names = {
            self._by_workload[each.name].arrival.name
            for it in entries
            if it.outcome is Outcome.PREEMPTING
            for each in (it.workload, *(victim.workload for victim in it.targets))
        }
        self.livelocks[tuple(sorted(names))] = None

    def _apply(self, kueue: Scheduler, entries: list[CycleEntry]) -> bool:
        """Start what was admitted, and stop what was evicted; false if there is neither."""
        done = False
        for entry in entries:
            for each in (entry.workload, *[it.workload for it in entry.targets]):
                if each.either:
                    self._by_workload[each.name].either = True
            if entry.outcome is Outcome.ADMITTED:
                done = True
                self._reserve(kueue, self._by_workload[entry.workload.name])
            elif entry.outcome is Outcome.PREEMPTING:
                done = True
                job = self._by_workload[entry.workload.name]
                for target in entry.targets:
                    victim = self._by_workload[target.workload.name]
                    self._preempts(job, victim, target.reason.value)
        self._evict(kueue)
        return done

    def _reserve(self, kueue: Scheduler, job: JobRun) -> None:
        """It holds quota, and is admitted when its checks are ready."""
        checks = job.workload.pending_checks if job.workload is not None else frozenset()
        self._observer.holds(self.now, job)
        for check in sorted(checks):
            after = self._assumptions.outcome(check, job.checked[check]).after
            if after:
                self._later(after, TimelineEvent.CHECK, job, check)
            else:
                self._check(kueue, job, check)
        if not checks:
            self._admit(job)

    def _check(self, kueue: Scheduler, job: JobRun, check: str) -> None:
        """An admission check has the outcome that is assumed."""
        workload = job.workload
        if workload is None or check not in workload.pending_checks:
            return
        attempt = job.checked[check]
        state = self._assumptions.outcome(check, attempt).state
        job.checked[check] += 1
        kueue.check(workload, check, state, self.now)
        if not self._assumptions.repeats(check, attempt):
            self.last = self.now
        if not workload.pending_checks and not workload.evicted:
            self._admit(job)

    def _evict(self, kueue: Scheduler) -> None:
        """The pods of all evicted workloads end."""
        for victim in kueue.evicted():
            job = self._by_workload[victim.name]
            self._leave_for(job)
            kueue.release(victim, self.now)

    def _preempts(self, job: JobRun, victim: JobRun, rule: str) -> None:
        self._fighting |= {job.arrival.name, victim.arrival.name}
        job.preempts[victim.arrival.name] = None
        found = JobPreemption(self.now, job.arrival.name, rule)
        if found not in victim.preemptions[-1:]:  # several pods of a job can leave at once
            victim.preemptions.append(found)

    def _leave_for(self, job: JobRun) -> None:
        """It is evicted, and begins again later."""
        self._untime(job)
        reason = job.workload.reason if job.workload is not None else ""
        if reason not in _PREEMPTIONS:
            job.evicted_for = reason
        if job.workload is not None and not job.workload.active:
            self.last = self.now  # it does not begin again
        job.stops(self.now, preempted=reason in _PREEMPTIONS)
        self._leave(job)
        if not job.arrival.is_of_pods:  # else others are created, which Kueue holds
            self._delete_pods(job)

    def _delete_pods(self, job: JobRun) -> None:
        """ResourceQuotas do not count its pods any more."""
        for spec, count in job.created if self.quotas else ():
            self._freed = True
            if self.quotas:
                self.quotas.release(job.arrival.namespace, spec, count)
        job.created.clear()
        job.ahead = 0

    def _admit(self, job: JobRun) -> None:
        """Its pods are created."""
        if job.admitted is None:
            job.admitted = self.now
        job.active = True
        job.reason = job.message = ""
        if job.arrival.unscheduled:
            job.unbound = sum(it.count for it in job.arrival.pods)
            job.reason = "NeverStarts"
            job.message = f"no scheduler has the name {job.arrival.unscheduled}"
            return
        create = self._go_to_node if job.arrival.is_of_pods else self._create
        for batch in job.arrival.pods:
            for labels, count in self._domains(job, batch):
                flavors = _flavors(job, batch.name)
                create(job, batch, self._shapes(job.arrival, batch, flavors, labels), count)
        if not job.unbound:
            self._start(job)

    def _create(self, job: JobRun, batch: PodBatch, shape: PodShape | None, count: int) -> None:
        """Create pods of an admitted job, as far as ResourceQuotas allow it."""
        created = self._take(job, batch, count)
        if created < count:
            job.unbound += count - created
            self._refused.append(RefusedPods(job, job.round, batch, shape, count - created))
        self._go_to_node(job, batch, shape, created)

    def _take(self, job: JobRun, batch: PodBatch, count: int) -> int:
        """How many pods ResourceQuotas let it create."""
        if not self.quotas:
            return count
        known = min(max(job.ahead, 0), count)
        job.ahead -= known
        created = self.quotas.create(job.arrival.namespace, batch.spec, count - known)
        if created:
            job.created.append((batch.spec, created))
        return known + created

    def _creates_pods(self, job: JobRun) -> bool:
        """Create the pods of which Kueue makes its Workload; false: a ResourceQuota refuses some."""
        for it in job.arrival.pods:
            created = self._take(job, it, it.count)
            if created < it.count:
                self._refused.append(RefusedPods(job, job.round, it, None, it.count - created))
        return not any(it.job is job for it in self._refused)

    def _create_refused(self) -> None:
        """Try again to create pods, since others ended."""
        self._freed = False
        refused, self._refused = self._refused, []
        for it in refused:
            if it.round != it.job.round:
                continue
            if it.job.active:
                it.job.unbound -= it.count
                self._create(it.job, it.batch, it.shape, it.count)
                if not it.job.unbound:
                    self._start(it.job)
                continue
            left = it.count - self._take(it.job, it.batch, it.count)
            if left:
                self._refused.append(RefusedPods(it.job, it.round, it.batch, None, left))
        self._submit_complete({it.job for it in refused if not it.job.active})

    def _submit_complete(self, jobs: Iterable[JobRun]) -> None:
        """Kueue makes Workloads of the pods of those jobs of which all pods exist now."""
        missing = {it.job for it in self._refused}
        for job in sorted(set(jobs) - missing, key=lambda it: it.index):
            if self.kueue is not None and job.workload is not None and job.ended is None:
                self.kueue.submit(job.workload)
        if self.kueue is not None:
            self._schedule(self.kueue)

    def refused_pods(self, job: JobRun) -> Iterator[tuple[PodSpec, int]]:
        """The pods of a job that ResourceQuotas refuse."""
        for it in self._refused:
            if it.job is job and it.round == job.round:
                yield it.batch.spec, it.count

    def _go_to_node(self, job: JobRun, batch: PodBatch, shape: PodShape | None, count: int) -> None:
        """Pods exist, and wait for the removal of their gates or for a node."""
        if not count:
            return
        if batch.gates:
            job.unbound += count
            self._open_later(job, batch, shape, count)
        elif shape is not None and self.kube is not None and shape.demand.node_name:
            self._run_on_named(self.kube, job, shape, count)
        elif shape is not None and self.kube is not None:
            for _ in range(count):
                self._wait_for_node(job, shape)

    def _run_on_named(self, kube: KubeScheduler, job: JobRun, shape: PodShape, count: int) -> None:
        """Pods name their node, so no scheduler places them, and its kubelet admits or rejects them."""
        before = len(job.rejected)
        for _ in range(count):
            found = kube.place(shape)
            if found is None:
                job.unbound += 1
                job.rejected.append(shape)
                self._rejecting[job] = None
            else:
                self._bind(job, shape, found.node)
        if len(job.rejected) > before and job.arrival.retries is not None:
            after = gives_up_after(job.arrival.retries, len(job.rejected))
            self._later(after, TimelineEvent.GIVE_UP, job, "")

    def _retry_rejected(self) -> None:
        """Controllers create pods again that a kubelet rejected. They run if their node has room now."""
        kube = self.kube
        if kube is None or not self._rejecting:
            return
        for job in [it for it in self._rejecting if it.rejected]:
            shapes = [*job.rejected]
            job.rejected.clear()
            for shape in shapes:
                found = kube.place(shape)
                if found is None:
                    job.rejected.append(shape)
                else:
                    self._bind(job, shape, found.node)
                    job.unbound -= 1
            if not job.unbound:
                self._start(job)
        self._rejecting = {it: None for it in self._rejecting if it.rejected}

    def _fails(self, job: JobRun) -> None:
        """Its controller gives up, and Kueue takes it for ended."""
        node = job.rejected[0].demand.node_name
        self._leave(job)
        self._delete_pods(job)
        self.last = self.now
        job.failed = True
        job.reason = "BackoffLimitExceeded" if job.arrival.retries else "Failed"
        job.message = f"node {node} rejects its pods"
        if self.kueue is not None and job.workload is not None:
            self.kueue.finish(job.workload, self.now)

    def _open_later(self, job: JobRun, batch: PodBatch, shape: PodShape | None, count: int) -> None:
        """The gates of new pods are removed as is assumed; others stay."""
        after = self._assumptions.opened(batch.gates)
        opens = inf if after is None else self.now + after
        job.gated.setdefault(batch.name, []).extend([(opens, shape)] * count)
        if after is not None:
            self._later(after, TimelineEvent.GATE, job, batch.name)

    def _later(self, after: float, what: TimelineEvent, job: JobRun, name: str) -> None:
        if not self.still:
            event = (self.now + after, what, job.index, name, job.round)
            heapq.heappush(self._events, event)

    def _open_gates(self, job: JobRun, batch: str) -> None:
        """Its pods whose gates are removed now may go to nodes."""
        held = job.gated.pop(batch, [])
        later = [it for it in held if it[0] > self.now]
        if later:
            job.gated[batch] = later
        if len(later) == len(held):
            return
        if job.started is None and not later and job.unbound == len(held):
            self.last = self.now  # else the same waits can repeat without end
        for shape in (shape for opens, shape in held if opens <= self.now):
            job.unbound -= 1
            if shape is not None and self.kube is not None:
                self._wait_for_node(job, shape)
        if not job.unbound:
            self._start(job)

    def _domains(
        self, job: JobRun, batch: PodBatch, nodes: Iterable[str] = ()
    ) -> Iterator[tuple[Mapping[str, str], int]]:
        """The labels of the topology domains of pods, and the number of pods in each.

        Pods on `nodes` are not counted.
        """
        admitted = _admitted(job, batch.name)
        placement = admitted.placement if admitted is not None else None
        if placement is None or self.kueue is None:
            yield {}, batch.count if admitted is None else admitted.count
            return
        topology = self.kueue.state.topologies[placement.flavor]
        bound = Counter(topology.leaf_of(it) for it in nodes)
        for leaf, count in placement.pods.items():
            yield topology.selector(leaf), count - bound[leaf]

    def _hold(self, job: JobRun, shape: PodShape, node: int, sign: int) -> None:
        """Kueue's topologies count pods that Kueue did not place there."""
        if self.kueue is None or self.kube is None or not self.kueue.state.topologies:
            return
        if job.arrival.is_outside_topologies:
            self.kueue.hold(self.kube.nodes.all[node].name, shape.requests, sign)

    def _start(self, job: JobRun) -> None:
        gang = self._gang(job)
        if gang is None:
            pods, gpus = _size(job)
            job.lasts = job.arrival.lasts(pods)
        else:
            pods, gpus = self._begin_pods(gang, self.now)
            job.lasts = job.arrival.duration
        job.starts(self.now, pods, gpus)
        if self.kueue is not None and job.workload is not None:
            self.kueue.ready(job.workload)
        job.reason = job.message = ""
        self._end_later(job, self.now)

    def _gang(self, job: JobRun) -> VolcanoJob | None:
        """What Volcano knows of a job; None: it does not schedule it."""
        if self.volcano is None or job.arrival.gang is None:
            return None
        return self.volcano.state.jobs.get(job.arrival.name)

    def _wait_for_node(self, job: JobRun, shape: PodShape) -> None:
        job.unbound += 1
        self._number += 1
        pods = self._waiting.setdefault((job.arrival.priority, shape), deque())
        pods.append((self._number, job, job.round))

    def _bind(self, job: JobRun, shape: PodShape, node: int) -> None:
        job.bound.append((shape, node))
        if self.volcano is not None and job.arrival.gang is None:
            self.volcano.state.nodes.hold(node, shape, 1)
        self._hold(job, shape, node, 1)
        self._priorities[job.arrival.priority] += 1
        self._observer.binds(self.now, job, shape, node, 1)

    def _unbind(self, job: JobRun, shape: PodShape, node: int) -> None:
        if self.kube is not None:
            self.kube.remove(shape, node)
        self._gang_changes = True
        if self.volcano is not None and job.arrival.gang is None:
            self.volcano.state.nodes.hold(node, shape, -1)
        self._hold(job, shape, node, -1)
        self._priorities[job.arrival.priority] -= 1
        self._observer.binds(self.now, job, shape, node, -1)

    def _place(self) -> None:
        """Bind the pods that wait: those of a high priority first, then those that wait the longest."""
        kube = self.kube
        if kube is None or not self._waiting:
            return
        order = [
            (-priority, pods[0][0], shape)
            for (priority, shape), pods in self._waiting.items()
            if shape not in self._full
        ]
        heapq.heapify(order)
        while order:
            lower, _, shape = heapq.heappop(order)
            pods = self._waiting[-lower, shape]
            _, job, round_ = pods[0]
            if job.round == round_ and not self._bind_one(kube, job, shape):
                self._full.add(shape)
                continue
            pods.popleft()
            if pods:
                heapq.heappush(order, (lower, pods[0][0], shape))
            else:
                del self._waiting[-lower, shape]

    def _bind_one(self, kube: KubeScheduler, job: JobRun, shape: PodShape) -> bool:
        """Bind one pod; false if no node has room, even without pods of a lower priority."""
        found = kube.place(shape)
        if found is None and self._make_room(kube, job, shape):
            found = kube.place(shape)
        if found is None:
            return False
        self._bind(job, shape, found.node)
        job.unbound -= 1
        if not job.unbound:
            self._start(job)
        return True

    def _make_room(self, kube: KubeScheduler, job: JobRun, shape: PodShape) -> bool:
        """Evict pods of a lower priority, if that gives the pod room on a node."""
        own = job.arrival.priority
        lower = any(count and it < own for it, count in self._priorities.items())
        if not lower or not job.arrival.preempts:
            return False
        running: dict[int, list[RunningPod]] = {}
        owners: dict[str, JobRun] = {}
        for other in self.jobs:
            for i, (pod, node) in enumerate(other.bound):
                name = f"{other.index}/{i}"
                owners[name] = other
                started = other.since if other.running else self.now
                running.setdefault(node, []).append(
                    RunningPod(name, pod, other.arrival.priority, started)
                )
        choice = best(preemptions(kube, shape, own, running))
        if not choice:
            return False
        job.either = job.either or len(choice) > 1
        for victim in choice[0].victims:
            other = owners[victim.name]
            self._preempts(job, other, POD_PRIORITY)
            self._loses(other, victim.shape, choice[0].node)
        return True

    def _loses(self, job: JobRun, shape: PodShape, node: int) -> None:
        """A pod is evicted from its node. Its controller creates it again, and the job begins again."""
        if self.volcano is not None and job.arrival.gang is not None:
            gang = self.volcano.state.jobs[job.arrival.name]
            self._loses_task(self.volcano, job, running_task(gang, shape, node))
            return
        self._unbind(job, shape, node)
        job.bound.remove((shape, node))
        if job.running:  # so none of its pods waits under the old round
            self._untime(job)
            job.stops(self.now)
            job.round += 1
        self._wait_for_node(job, shape)

    def _submit(self, job: JobRun, gang: GangSettings) -> None:
        """A PodGroup for Volcano is created."""
        if self.volcano is None or gang.queue not in self.volcano.state.queues:
            missing = "the nodes are not known" if self.volcano is None else ""
            job.reason = "NotSimulated" if missing else "Unschedulable"
            job.message = missing or f"Volcano's queue {gang.queue} does not exist"
            return
        shapes = [self._shapes(job.arrival, it, {}, {}) for it in job.arrival.pods]
        made = gang_job(job.arrival, gang, shapes, job.arrival.at)
        job.unbound = len(made.tasks) + len(made.unborn)
        self._gangs[made.name] = job
        self._gang_changes = True
        self.volcano.submit(made)
        if not job.unbound:
            self._observer.holds(self.now, job)
            self._admit(job)

    def _run_sessions(self, volcano: VolcanoScheduler) -> None:
        """Run sessions until one changes nothing."""
        self._gang_changes = False
        involved: set[str] = set()
        states: Counter[frozenset[tuple[str, Phase, int]]] = Counter()
        for _ in range(_SESSIONS):
            phases = {it: it.phase for it in volcano.state.jobs.values()}
            chosen, rounded = volcano.choices.made, volcano.choices.rounded
            entries = volcano.session()
            tied = volcano.choices.made > chosen
            rounds = volcano.choices.rounded > rounded
            for entry in entries:
                job = self._gangs[entry.job.name]
                self._gang_progress(volcano, job, entry)
                job.either |= (tied and bool(entry.evictions)) or (rounds and bool(entry.bound))
                for it in entry.evictions:
                    involved |= {job.arrival.name, it.victim.job.name}
            if all(not it.bound and not it.evictions for it in entries) and phases == {
                it: it.phase for it in volcano.state.jobs.values()
            }:
                break
            if any(it.evictions for it in entries):
                jobs = volcano.state.jobs.values()
                states[frozenset((it.name, it.phase, it.ready_count) for it in jobs)] += 1
            if max(states.values(), default=0) >= _SAME_PODS:
                self.livelocks[tuple(sorted(involved))] = None
                break
        else:
            self.livelocks[tuple(sorted(involved))] = None
        self._gang_changes = False

    def _gang_progress(self, volcano: VolcanoScheduler, job: JobRun, entry: SessionEntry) -> None:
        """Note what a session did with a job."""
        if job.admitted is None and not entry.job.pending:
            job.admitted = self.now
        job.reason, job.message = entry.reason, entry.message
        for task in entry.bound:
            if not job.active:
                job.active = True
                self._observer.holds(self.now, job)
            if self.kube is not None:
                self.kube.bind(task.shape, task.at)
            self._bind(job, task.shape, task.at)
            job.unbound -= 1
        for eviction in entry.evictions:
            victim = self._gangs[eviction.victim.job.name]
            self._preempts(job, victim, eviction.reason.value)
            if eviction.victim.status is TaskStatus.RELEASING:
                self._loses_task(volcano, victim, eviction.victim)
        if entry.bound and job.running:
            pods, gpus = self._begin_pods(entry.job, self.now)
            job.pod_starts[self.now] += pods
            job.work.change(self.now, gpus)
            job.last_nodes.update(it.at for it in entry.bound)
            if job.lasts is not None and not self.still:
                self._end_at(job, self.now + job.lasts)
        elif entry.bound and entry.job.ready:
            self._start(job)

    def _loses_task(self, volcano: VolcanoScheduler, job: JobRun, task: VolcanoTask) -> None:
        """A pod is evicted. Its controller creates it again, or all pods of the job."""
        gang = task.job
        restarts = job.arrival.gang is not None and job.arrival.gang.restarts
        for it in [*gang.tasks.values()] if restarts else [task]:
            if it.node is None:
                continue
            if it.status is TaskStatus.SUCCEEDED:
                job.work.lost += gpus_of(dict(it.shape.requests)) * (job.lasts or 0.0)
            else:
                self._unbind(job, it.shape, it.node)
                job.bound.remove((it.shape, it.node))
                if not restarts and it.began is not None:
                    job.work.end_pod(
                        self.now, gpus_of(dict(it.shape.requests)), it.began, lost=True
                    )
                    job.pod_starts[it.began] -= 1
                    job.last_nodes[it.node] -= 1
            it.began = None
            volcano.release(it)
            job.unbound += 1
        if restarts:
            job.done.clear()
        if job.running and (restarts or not gang.ready):
            self._untime(job)
            job.stops(self.now)
            job.round += 1
            for it in gang.tasks.values():
                it.began = None


def gives_up_after(retries: int, pods: int) -> float:
    """The seconds until more than so many pods of a Job failed, if this number fails at each attempt.

    The first wait is 10 seconds; it doubles with each failed pod, up to 10 minutes.
    Source: pkg/controller/job/backoff_utils.go of Kubernetes 1.36.3.
    """
    waits = range(pods, retries + 1, pods)
    first = sum(min(_FIRST_BACKOFF_S * 2.0 ** (it - 1), _MOST_BACKOFF_S) for it in waits[:_DOUBLED])
    return first + _MOST_BACKOFF_S * len(waits[_DOUBLED:])


def _runs_already(job: JobRun) -> bool:
    arrival = job.arrival
    admitted = arrival.workload is not None and arrival.workload.admission is not None
    return admitted or any(arrival.nodes)


def _size(job: JobRun) -> tuple[int, int]:
    """The number of pods that a job runs with, and their GPUs: fewer after a partial admission."""
    workload = job.workload
    if workload is None or workload.admission is None:
        pods = job.arrival.pods
        return (
            sum(it.count for it in pods),
            sum(it.count * gpus_of(it.spec.requests) for it in pods),
        )
    requests = {it.name: it.requests for it in workload.pod_sets}
    sets = workload.admission.pod_sets
    return (
        sum(it.count for it in sets),
        sum(it.count * gpus_of(dict(requests[it.name])) for it in sets),
    )


def _admitted(job: JobRun, pod_set: str) -> PodSetAdmission | None:
    """What Kueue admitted of a pod set, with fewer pods than requested after a partial admission."""
    admission = job.workload.admission if job.workload is not None else None
    for it in admission.pod_sets if admission is not None else ():
        if it.name == pod_set:
            return it
    return None


def _flavors(job: JobRun, pod_set: str) -> Mapping[str, str]:
    """The flavors of a pod set by resource; empty without Kueue."""
    found = _admitted(job, pod_set)
    return found.flavors if found is not None else {}


def _admitted_workloads(kueue: Scheduler) -> frozenset[str]:
    """The names of all workloads that hold quota."""
    return frozenset(name for queue in kueue.state.queues.values() for name in queue.workloads)
