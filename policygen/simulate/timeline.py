"""What Kueue, kube-scheduler and Volcano decide over time: jobs arrive, wait, run, end, and are preempted.

Times are seconds. Scheduling takes no time, pods start at once, and the pods of a victim end at once. A
job begins to run when all its pods run. After a preemption it begins again. A job of Volcano begins when
enough of its pods run; each of its pods then runs for the same time, and it ends with the last one.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from math import inf

from msgspec import Struct

from policygen.simulate.arrival import Arrival, GangSettings, PodBatch
from policygen.simulate.assumptions import NOTHING_ASSUMED, Assumptions
from policygen.simulate.growing_pools import GrowingPool
from policygen.simulate.kueue.scheduler import Scheduler
from policygen.simulate.over_time.agenda import Agenda, AgendaEntry, TimelineEvent
from policygen.simulate.over_time.bindings import NodeBindings
from policygen.simulate.over_time.gang_runs import GangRuns
from policygen.simulate.over_time.gated_pods import GatedPods
from policygen.simulate.over_time.job_pods import JobPods
from policygen.simulate.over_time.job_run import JobRun, Shapes
from policygen.simulate.over_time.kueue_runs import KueueRuns
from policygen.simulate.over_time.livelocks import Livelocks
from policygen.simulate.over_time.node_growth import NodeGrowthRuns
from policygen.simulate.over_time.node_queue import NodeQueue
from policygen.simulate.over_time.observer import Observer
from policygen.simulate.over_time.pod_creation import PodCreation
from policygen.simulate.over_time.rejected_pods import RejectedPods
from policygen.simulate.over_time.starts import JobStarts
from policygen.simulate.placement.scheduler import KubeScheduler
from policygen.simulate.placement.shape import PodShape
from policygen.simulate.pod_quotas import PodQuotas
from policygen.simulate.volcano.scheduler import VolcanoScheduler


class TimelineProgress(Struct, frozen=True):
    """How far a simulation is."""

    now: float
    arrived: int
    ended: int
    jobs: int


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
        growing: Iterable[GrowingPool] = (),
        quotas: PodQuotas | None = None,
        until: float | None = None,
        still: bool = False,
        observer: Observer | None = None,
    ) -> None:
        self.kueue, self.kube, self.volcano = kueue, kube, volcano
        self.quotas = quotas
        """With the pods that exist from the start; None: there are none."""
        self.jobs = jobs = [JobRun(it, i) for i, it in enumerate(arrivals)]
        self.until = until
        self._assumptions = assumptions
        self._observer = observer = observer or Observer()
        events = (
            AgendaEntry(max(it.arrival.at, 0.0), TimelineEvent.ARRIVAL, it.index)
            for it in jobs
            if not it.runs_already
        )
        self.agenda = agenda = Agenda(events, still=still)
        self._livelocks = livelocks = Livelocks()
        self._starts = starts = JobStarts(agenda, kueue, volcano)
        self._bindings = bindings = NodeBindings(agenda, observer, kueue, kube, volcano)
        self._gangs: GangRuns | None = None
        self._node_queue: NodeQueue | None = None
        self._rejected: RejectedPods | None = None
        self._queued: KueueRuns | None = None
        self._growth: NodeGrowthRuns | None = None
        if kube is not None:
            if volcano is not None:
                self._gangs = GangRuns(
                    volcano,
                    kube,
                    shapes=shapes,
                    agenda=agenda,
                    observer=observer,
                    livelocks=livelocks,
                    starts=starts,
                    bindings=bindings,
                )
            self._node_queue = NodeQueue(
                kube,
                agenda=agenda,
                livelocks=livelocks,
                starts=starts,
                bindings=bindings,
                gangs=self._gangs,
            )
            self._rejected = RejectedPods(kube, agenda, starts, bindings)
            if pools := tuple(growing):
                self._growth = NodeGrowthRuns(
                    pools,
                    kube,
                    kueue=kueue,
                    volcano=volcano,
                    queue=self._node_queue,
                    agenda=agenda,
                    bindings=bindings,
                )
        self._gated = GatedPods(agenda, assumptions, starts, self._node_queue)
        self._creation = creation = PodCreation(
            quotas, starts, self._gated, self._rejected, self._node_queue
        )
        self._pods = pods = JobPods(
            shapes,
            agenda=agenda,
            observer=observer,
            kueue=kueue,
            starts=starts,
            bindings=bindings,
            creation=creation,
        )
        if kueue is not None:
            self._queued = KueueRuns(
                kueue,
                jobs,
                assumptions=assumptions,
                agenda=agenda,
                observer=observer,
                livelocks=livelocks,
                starts=starts,
                creation=creation,
                pods=pods,
            )
        self._arrived = self._ended = 0
        self._begun = False

    @property
    def now(self) -> float:
        """The present time."""
        return self.agenda.now

    @property
    def last(self) -> float:
        """The last time at which a job arrived, started or ended."""
        return self.agenda.last

    @property
    def livelocks(self) -> Mapping[tuple[str, ...], None]:
        """Jobs that preempt each other again and again."""
        return self._livelocks.found

    @property
    def cycles(self) -> int:
        """How many cycles Kueue ran."""
        return self._queued.cycles if self._queued is not None else 0

    @property
    def most_nodes(self) -> Mapping[str, int]:
        """The most nodes that existed at once, by pool to which an autoscaler adds nodes."""
        return self._growth.most if self._growth is not None else {}

    @property
    def waiting(self) -> Iterator[tuple[PodShape, int]]:
        """The shapes of pods that wait for a node, and their number."""
        if self._node_queue is not None:
            yield from self._node_queue.shapes()

    @property
    def growing(self) -> tuple[GrowingPool, ...]:
        """The pools to which an autoscaler adds nodes, with those that exist now."""
        return self._growth.since(self.ends) if self._growth is not None else ()

    @property
    def on_nodes(self) -> list[JobRun]:
        """The jobs with pods on nodes, in the order of `jobs`."""
        return self._bindings.jobs

    def waiting_of(self, job: JobRun) -> Iterator[tuple[PodShape, int]]:
        """The shapes of pods of a job that wait for a node, and their number."""
        if job.arrival.gang is not None:
            return
        yield from Counter(job.rejected).items()
        if self._node_queue is not None:
            yield from self._node_queue.shapes_of(job)

    def shapes_of(self, job: JobRun, batch: PodBatch) -> Iterator[tuple[PodShape, int]]:
        """The shapes of admitted pods that need a known node, and the number of each."""
        return self._pods.shapes_of(job, batch)

    def refused_pods(self, job: JobRun) -> Iterator[tuple[PodBatch, int]]:
        """The pods of a job that ResourceQuotas refuse."""
        return self._creation.refused_pods(job)

    @property
    def finished(self) -> bool:
        """Whether nothing happens any more."""
        after = self.agenda.next
        if after == inf:
            return True
        if self.until is not None:
            return after > self.until
        if self._arrived < len(self.jobs):
            return False
        idle = after - self.last - self._patience
        return idle > 0 and idle > self._longest

    @property
    def _longest(self) -> float:
        """The longest duration of the running jobs. If no job ended for longer, all were evicted before their end."""
        if not self.agenda.timed:
            return 0.0
        return max((it.lasts for it in self.jobs if it.running and it.lasts is not None), default=0)

    @property
    def _patience(self) -> float:
        """If nothing starts for so long while no job will end, the same waits only repeat."""
        rule = self.kueue.state.pods_ready if self.kueue is not None else None
        waits = [self._assumptions.longest] if self._assumptions.checks else []
        if rule is not None:
            waits.append(rule.timeout + rule.most)
            waits += [self._growth.slowest] if self._growth is not None else []
        return 2 * sum(waits) if waits else inf

    @property
    def ends(self) -> float:
        """The time at which it ended: the given one, or that of the last change."""
        return self.last if self.until is None or not self.finished else self.until

    def waited(self, job: JobRun) -> float:
        """How long a job waited until now."""
        more = not job.running and job.has_arrived
        return job.waited + (max(self.ends - job.since, 0.0) if more else 0.0)

    def run(self) -> Iterator[TimelineProgress]:
        """Run until nothing happens any more, or until the given time; yields after each time.

        The caller may stop in between: what was found until then is known.
        """
        if not self._begun:
            self._begun = True
            self._begin()
        while not self.finished:
            for event in self.agenda.forward():
                if event.what in (TimelineEvent.NODE, TimelineEvent.IDLE):
                    self._of_nodes(event)
                else:
                    self._happens(event)
            self._decide()
            self._observer.passes(self.now)
            yield TimelineProgress(self.now, self._arrived, self._ended, len(self.jobs))

    def settle(self) -> None:
        """Let Kueue try now what it would try a moment after the last event. The run cannot go on after that."""
        if self._queued is not None:
            self._queued.retry_now()
            self._decide()

    def _decide(self) -> None:
        """The schedulers decide about what happened at this time."""
        queued = self._queued
        if queued is not None:
            queued.schedule()
        if self._creation.can_create:
            complete = self._creation.create_refused()
            if queued is not None:
                queued.submit_complete(complete)
        if self._node_queue is not None:
            self._node_queue.place()
        if self._rejected is not None:
            self._rejected.retry()
        if self._gangs is not None and self._gangs.can_change:
            self._gangs.run_sessions()
        if self._growth is not None:
            self._growth.decide()

    def _begin(self) -> None:
        """Take over what exists from the start."""
        for it in self.jobs:
            self._creation.adopt(it)
        for job in self.jobs:
            if job.runs_already:
                self._resume(job)
        if self._queued is not None:
            self._queued.begin()
        if self.agenda.next > 0:  # pods can wait for a node
            self.agenda.add(0.0, TimelineEvent.DUE)

    def _resume(self, job: JobRun) -> None:
        """The job was admitted before the start."""
        self._arrived += 1
        gang, workload = job.arrival.gang, job.workload
        if gang is not None and self._gangs is not None and self._bindings.by_volcano(job):
            self._gangs.resume(job, gang)
        elif self._queued is not None and workload is not None and workload.pending_checks:
            job.round, job.since = 1, job.arrival.at
            self._queued.reserve(job)
        else:
            self._pods.resume(job, self.kube)
            if gang is not None and job.unbound:
                job.reason, job.message = _without_queue(gang)

    def _of_nodes(self, event: AgendaEntry) -> None:
        """A node comes, or was empty for a time."""
        if self._growth is not None:
            self._growth.happens(event)

    def _happens(self, event: AgendaEntry) -> None:
        what, queued = event.what, self._queued
        if what is TimelineEvent.RETRY:
            if queued is not None:
                queued.retry(event.name)
            return
        if what is TimelineEvent.DUE:
            changes = queued is not None and queued.tick()
        else:
            own = self.jobs[event.job].round == event.round
            changes = own or what is TimelineEvent.ARRIVAL
        if not changes:
            return
        self._livelocks.forget()
        if queued is not None:
            queued.retry_stalled()
        if what is TimelineEvent.ARRIVAL:
            self._arrives(self.jobs[event.job])
        elif what is not TimelineEvent.DUE:
            self._goes_on(what, self.jobs[event.job], event.name)

    def _goes_on(self, what: TimelineEvent, job: JobRun, name: str) -> None:
        """`name` is that of an admission check or a batch of pods."""
        if what is TimelineEvent.CHECK and self._queued is not None:
            self._queued.check(job, name)
        elif what is TimelineEvent.GATE:
            self._gated.open(job, name)
        elif what is TimelineEvent.GIVE_UP and job.rejected:
            self._fails(job)
        elif what is TimelineEvent.END and job.running:
            gang = job.arrival.gang if self._bindings.by_volcano(job) else None
            if gang is None or self._gangs is None or self._gangs.end_pods(job, gang):
                self._ends(job)

    def _arrives(self, job: JobRun) -> None:
        self._arrived += 1
        self.agenda.last = self.now
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
            self._pods.admit(job)
        elif self._queued is None:
            job.reason, job.message = "Inadmissible", "Kueue is not known"
        else:
            self._queued.submit(job, workload)

    def _submit(self, job: JobRun, gang: GangSettings) -> None:
        """A PodGroup for Volcano is created."""
        if self._gangs is None:
            job.reason, job.message = "NotSimulated", "the nodes are not known"
        elif not self._bindings.by_volcano(job):
            job.reason, job.message = _without_queue(gang)
        else:
            self._gangs.submit(job, gang)
            if not job.unbound:
                self._observer.holds(self.now, job)
                self._pods.admit(job)

    def _ends(self, job: JobRun) -> None:
        self._ended += 1
        self.agenda.last = self.now
        self._starts.untime(job)
        job.leaves(self.now)
        self._pods.leave(job)
        self._creation.delete(job)
        job.ended = self.now
        job.reason = job.message = ""
        if self.kueue is not None and job.workload is not None:
            self.kueue.finish(job.workload, self.now)
        if self._gangs is not None and self._bindings.by_volcano(job):
            self._gangs.finish(job)

    def _fails(self, job: JobRun) -> None:
        """Its controller gives up, and Kueue takes it for ended."""
        node = job.rejected[0].demand.node_name
        self._pods.leave(job)
        self._creation.delete(job)
        self.agenda.last = self.now
        job.failed = True
        job.reason = "BackoffLimitExceeded" if job.arrival.retries else "Failed"
        job.message = f"node {node} rejects its pods"
        if self.kueue is not None and job.workload is not None:
            self.kueue.finish(job.workload, self.now)


def _without_queue(gang: GangSettings) -> tuple[str, str]:
    """Reason and message of a job whose queue Volcano does not know."""
    return "Unschedulable", f"Volcano's queue {gang.queue} does not exist"
