"""Jobs that Kueue manages: its cycles and retries, admission checks, and evictions."""

from collections.abc import Collection, Iterable, Sequence

from policygen.core.suggest import suggest
from policygen.simulate.assumptions import Assumptions
from policygen.simulate.kueue.entry import CycleEntry, Outcome
from policygen.simulate.kueue.quota import QuotaNode
from policygen.simulate.kueue.scheduler import Scheduler
from policygen.simulate.kueue.victims import PreemptionReason
from policygen.simulate.kueue.workload import QueuedWorkload
from policygen.simulate.over_time.agenda import Agenda, TimelineEvent
from policygen.simulate.over_time.job_pods import JobPods
from policygen.simulate.over_time.job_run import JobRun
from policygen.simulate.over_time.livelocks import Livelocks
from policygen.simulate.over_time.observer import Observer
from policygen.simulate.over_time.pod_creation import PodCreation
from policygen.simulate.over_time.starts import JobStarts

RETRY_AFTER_S = 1.0
"""Kueue collects changes so long before it tries inadmissible workloads again (requeueBatchPeriod)."""
NODES_RETRY_S = 10.0
"""Kueue collects ends of pods that it did not place at most so long (defaultRequeueBatchInterval)."""

_QUEUES = "queue"
_PREEMPTIONS = frozenset(it.value for it in PreemptionReason)


class KueueRuns:
    """Runs the cycles of Kueue."""

    def __init__(  # noqa: PLR0913 - what decides about a job besides Kueue
        self,
        kueue: Scheduler,
        jobs: Sequence[JobRun],
        *,
        assumptions: Assumptions,
        agenda: Agenda,
        observer: Observer,
        livelocks: Livelocks,
        starts: JobStarts,
        creation: PodCreation,
        pods: JobPods,
    ) -> None:
        self._kueue, self._assumptions = kueue, assumptions
        self._agenda, self._observer, self._livelocks = agenda, observer, livelocks
        self._starts, self._creation, self._pods = starts, creation, pods
        self._jobs = {it.workload.name: it for it in jobs if it.workload is not None}
        """By the name of the workload."""
        self.cycles = 0
        self._longest_scan = max(
            (len(group.flavors) for it in kueue.state.queues.values() for group in it.groups),
            default=0,
        )
        """The most cycles without an admission while a workload tries one flavor after the other."""
        self._retries: set[QuotaNode] = set()
        self._stalled: set[QuotaNode] = set()
        """The roots of trees in a livelock, which are not tried again until jobs arrive or end."""
        self._leaving: set[JobRun] = set()
        """The victims of preemptions that still hold their quota."""
        self._due: float | None = None
        """The time of the next event DUE."""

    def begin(self) -> None:
        """The simulation starts, with jobs that hold quota."""
        self._kueue.begin(self._agenda.now)
        self.evict()
        self.schedule()

    def submit(self, job: JobRun, workload: QueuedWorkload) -> None:
        """Queue a job, once all its pods exist if Kueue makes its Workload of them."""
        missing = self._missing_queue(workload)
        if missing:
            job.reason, job.message = "Inadmissible", missing
        elif not job.arrival.is_of_pods or self._creation.create_queued(job):
            self._kueue.submit(workload)

    def submit_complete(self, jobs: Iterable[JobRun]) -> None:
        """Kueue makes Workloads of the pods of jobs, all of which exist now."""
        for job in jobs:
            if job.workload is not None and job.ended is None:
                self._kueue.submit(job.workload)
        self.schedule()

    def _missing_queue(self, workload: QueuedWorkload) -> str:
        """Why no queue takes a workload, in Kueue's words; empty: one does."""
        state = self._kueue.state
        namespace, _, name = workload.queue.partition("/")
        queue = state.local_queues.get(workload.queue)
        if queue is None:
            others = (it.split("/", 1) for it in state.local_queues)
            advice = suggest(name, (it for within, it in others if within == namespace), _QUEUES)
            return f"LocalQueue {name} doesn't exist in namespace {namespace}; {advice}"
        if queue in state.queues:
            return ""
        return f"ClusterQueue {queue} doesn't exist; {suggest(queue, state.queues, _QUEUES)}"

    def schedule(self) -> None:
        """Run Kueue's cycles until nothing more can be admitted at this time."""
        kueue = self._kueue
        seen: set[frozenset[str]] = set()
        preempts = False
        while self._run_cycles():
            preempts = True
            fighting = self._preempting()
            self.evict()
            admitted = _admitted_workloads(kueue)
            if admitted in seen:
                self._livelocks.add(fighting)
                break
            seen.add(admitted)
        due = None if self._agenda.still else kueue.next_time()
        if due is not None and (self._due is None or due < self._due):
            self._due = due
            self._agenda.add(due, TimelineEvent.DUE)
        changed, freed = kueue.changed(), kueue.freed()
        if preempts and self._livelocks.repeats(_admitted_workloads(kueue)):
            self._stalled |= changed | freed
        else:
            self._retry_after(RETRY_AFTER_S, changed)
            self._retry_after(NODES_RETRY_S, freed)

    def _run_cycles(self) -> bool:
        """Run cycles until no other workload is tried. Victims hold their quota until then; false: there are none.

        On servers, victims leave after the other workloads were tried, since a cycle takes milliseconds.
        """
        kueue = self._kueue
        quiet, left = 0, kueue.to_try()
        while left and quiet <= self._longest_scan:
            self.cycles += 1
            before, victims = left, kueue.leaving
            admits = self._apply(kueue.cycle(self._agenda.now))
            left = kueue.to_try()
            # A workload that was parked makes room for the next one of its queue.
            goes_on = admits or left < before or kueue.leaving > victims
            quiet = 0 if goes_on else quiet + 1
        return kueue.leaving > 0

    def retry(self, name: str) -> None:
        """Try the inadmissible workloads of the trees again whose root has this name."""
        roots = {it for it in self._retries if it.name == name}
        self._retries -= roots
        self._kueue.retry(roots)

    def retry_now(self) -> None:
        """Try all inadmissible workloads again that Kueue would try a moment later, until nothing changes."""
        seen: set[frozenset[str]] = set()
        while self._retries and (admitted := _admitted_workloads(self._kueue)) not in seen:
            seen.add(admitted)
            roots, self._retries = self._retries, set()
            self._kueue.retry(roots)
            self.schedule()

    def retry_stalled(self) -> None:
        """Something else happens: try the trees in a livelock again."""
        self._retry_after(RETRY_AFTER_S, self._stalled)
        self._stalled.clear()

    def tick(self) -> bool:
        """Do what is due. Returns whether a wait of Kueue is over."""
        self._due = None
        changes = self._kueue.tick(self._agenda.now)
        self.evict()
        return changes

    def _retry_after(self, after: float, roots: Collection[QuotaNode]) -> None:
        """Try the inadmissible workloads of these trees again later."""
        if not roots:
            return
        for root in set(roots) - self._retries:
            self._retries.add(root)
            self._agenda.add(self._agenda.now + after, TimelineEvent.RETRY, name=root.name)

    def _preempting(self) -> set[str]:
        """The jobs that are evicted now, and those that preempted them."""
        victims = [self._jobs[it.name] for it in self._kueue.evicted()]
        by = {it.preemptions[-1].by for it in victims if it.preemptions}
        return by | {it.arrival.name for it in victims}

    def _apply(self, entries: list[CycleEntry]) -> bool:
        """Start what was admitted, and note who preempts whom; false if nothing was admitted."""
        done = False
        for entry in entries:
            for each in (entry.workload, *[it.workload for it in entry.targets]):
                if each.either:
                    self._jobs[each.name].either = True
            if entry.outcome is Outcome.ADMITTED:
                done = True
                self.reserve(self._jobs[entry.workload.name])
            elif entry.outcome is Outcome.PREEMPTING:
                job = self._jobs[entry.workload.name]
                for target in entry.targets:
                    victim = self._jobs[target.workload.name]
                    if victim not in self._leaving:  # else it was evicted in an earlier cycle
                        self._leaving.add(victim)
                        self._livelocks.preempts(self._agenda.now, job, victim, target.reason.value)
        return done

    def reserve(self, job: JobRun) -> None:
        """A job holds quota, and is admitted when its checks are ready."""
        checks = job.workload.pending_checks if job.workload is not None else frozenset()
        self._observer.holds(self._agenda.now, job)
        for check in sorted(checks):
            after = self._assumptions.outcome(check, job.checked[check]).after
            if after:
                self._agenda.later(after, TimelineEvent.CHECK, job.index, check, job.round)
            else:
                self._check(job, check)
        if not checks:
            self._pods.admit(job)

    def check(self, job: JobRun, check: str) -> None:
        """An admission check has the outcome that is assumed, after a time."""
        self._check(job, check)
        self.evict()

    def _check(self, job: JobRun, check: str) -> None:
        workload = job.workload
        if workload is None or check not in workload.pending_checks:
            return
        attempt = job.checked[check]
        state = self._assumptions.outcome(check, attempt).state
        job.checked[check] += 1
        self._kueue.check(workload, check, state, self._agenda.now)
        if not self._assumptions.repeats(check, attempt):
            self._agenda.last = self._agenda.now
        if not workload.pending_checks and not workload.evicted:
            self._pods.admit(job)

    def evict(self) -> None:
        """The pods of all evicted workloads end."""
        for victim in self._kueue.evicted():
            self._leave(self._jobs[victim.name], victim)
            self._kueue.release(victim, self._agenda.now)
        self._leaving.clear()

    def _leave(self, job: JobRun, workload: QueuedWorkload) -> None:
        """A job is evicted, and begins again later."""
        self._starts.untime(job)
        if workload.reason not in _PREEMPTIONS:
            job.evicted_for = workload.reason
        if not workload.active:
            self._agenda.last = self._agenda.now  # it does not begin again
        job.stops(self._agenda.now, preempted=workload.reason in _PREEMPTIONS)
        self._pods.leave(job)
        if not job.arrival.is_of_pods:  # else others are created, which Kueue holds
            self._creation.delete(job)


def _admitted_workloads(kueue: Scheduler) -> frozenset[str]:
    """The names of all workloads that hold quota."""
    return frozenset(name for queue in kueue.state.queues.values() for name in queue.workloads)
