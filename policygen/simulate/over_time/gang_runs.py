"""Jobs that Volcano schedules: its sessions, and the pods that start, end and are evicted."""

from collections import Counter
from math import inf

from policygen.kubernetes.accelerators import gpus_of
from policygen.simulate.arrival import GangSettings
from policygen.simulate.over_time.agenda import Agenda
from policygen.simulate.over_time.bindings import NodeBindings
from policygen.simulate.over_time.job_run import JobRun, Shapes
from policygen.simulate.over_time.livelocks import Livelocks
from policygen.simulate.over_time.observer import Observer
from policygen.simulate.over_time.starts import JobStarts, begin_pods
from policygen.simulate.placement.scheduler import KubeScheduler
from policygen.simulate.placement.shape import PodShape
from policygen.simulate.volcano.gangs import gang_job, running_task
from policygen.simulate.volcano.job import Phase, TaskStatus, VolcanoJob, VolcanoTask
from policygen.simulate.volcano.scheduler import SessionEntry, VolcanoScheduler

_SESSIONS = 200
"""With more sessions of Volcano at one time, its jobs evict each other again and again."""
_FEWEST = 20
"""So many sessions are run at least; each livelock halves the number for later times, which would be as long."""
_SAME_PODS = 10
"""After evictions by Volcano led so often to jobs with as many pods as before, they do so without end.

More often than a state of Kueue, because other pods of these jobs can leave each time.
"""


class GangRuns:
    """Runs the sessions of Volcano."""

    def __init__(  # noqa: PLR0913 - what decides about a job besides Volcano
        self,
        volcano: VolcanoScheduler,
        kube: KubeScheduler,
        *,
        shapes: Shapes,
        agenda: Agenda,
        observer: Observer,
        livelocks: Livelocks,
        starts: JobStarts,
        bindings: NodeBindings,
    ) -> None:
        self._volcano, self._kube, self._shapes = volcano, kube, shapes
        self._agenda, self._observer, self._livelocks = agenda, observer, livelocks
        self._starts, self._bindings = starts, bindings
        self._jobs: dict[str, JobRun] = {}
        """By name."""
        self._has_new = False
        """Whether jobs came since the last session."""
        self._left = 0
        """How many pods had left their nodes at the last session."""
        self._most = _SESSIONS
        """The number of sessions at one time."""

    @property
    def can_change(self) -> bool:
        """Whether sessions may have other results now."""
        return self._has_new or self._left != self._bindings.left

    def submit(self, job: JobRun, gang: GangSettings) -> None:
        """A PodGroup is created, whose queue is known."""
        shapes = [self._shapes(job.arrival, it, {}, {}) for it in job.arrival.pods]
        made = gang_job(job.arrival, gang, shapes, job.arrival.at)
        job.unbound = len(made.tasks) + len(made.unborn)
        self._add(job, made)

    def resume(self, job: JobRun, gang: GangSettings) -> None:
        """Volcano started a job before the start of the simulation. Its queue is known."""
        arrival = job.arrival
        shapes = [self._shapes(arrival, it, {}, {}) for it in arrival.pods]
        made = gang_job(arrival, gang, shapes, arrival.at)
        made.phase = Phase.RUNNING
        nodes = iter(arrival.nodes)
        for task in [*made.unborn, *made.tasks.values()]:
            node = self._kube.nodes.index.get(next(nodes, ""))
            if node is not None:
                if task.name in made.tasks:
                    made.remove(task)
                task.node, task.status = node, TaskStatus.RUNNING
            if task.name not in made.tasks:
                made.add(task)
        made.unborn.clear()
        job.admitted, job.round, job.active, job.since = arrival.at, 1, True, arrival.at
        self._add(job, made)
        self._observer.holds(self._agenda.now, job)
        for task in made.by_status[TaskStatus.RUNNING].values():
            self._kube.bind(task.shape, task.at)
            self._bindings.bind(job, task.shape, task.at)
        job.unbound = len(made.tasks) - len(job.bound)
        if made.ready:
            job.lasts = arrival.duration if arrival.left is None else arrival.left
            job.starts(arrival.at, *begin_pods(made, arrival.at))
            self._starts.end_later(job)
            job.lasts = arrival.duration  # of pods that begin later

    def _add(self, job: JobRun, made: VolcanoJob) -> None:
        self._jobs[made.name] = job
        self._has_new = True
        self._volcano.submit(made)

    def finish(self, job: JobRun) -> None:
        """A job has ended."""
        self._volcano.finish(self._volcano.state.jobs[job.arrival.name])

    def end_pods(self, job: JobRun, settings: GangSettings) -> bool:
        """Pods of a job end. True: the job ends with them; else its other pods go on."""
        now, gang = self._agenda.now, self._volcano.state.jobs[job.arrival.name]
        for task in [*gang.by_status[TaskStatus.RUNNING].values()]:
            if task.began is None or _end(job, task.began) > now:
                continue
            job.work.end_pod(now, gpus_of(dict(task.shape.requests)), task.began, lost=False)
            self._bindings.unbind(job, task.shape, task.at)
            self._volcano.complete(task)
            job.done[task.batch] += 1
            self._agenda.last = now
        self._bindings.full.clear()
        counts = [it.count for it in job.arrival.pods]
        if (
            len(gang.tasks) == gang.count(TaskStatus.SUCCEEDED)
            or (settings.min_success or len(gang.tasks) + 1) <= job.done.total()
            or any(it.completes and job.done[i] == counts[i] for i, it in enumerate(settings.tasks))
        ):
            return True
        if not job.bound:  # its other pods wait
            self._starts.untime(job)
            job.leaves(now)
            job.round += 1
        return False

    def run_sessions(self) -> None:
        """Run sessions until one changes nothing."""
        volcano = self._volcano
        involved: set[str] = set()
        states: Counter[frozenset[tuple[str, Phase, int]]] = Counter()
        for _ in range(self._most):
            phases = {it: it.phase for it in volcano.state.jobs.values()}
            chosen, rounded = volcano.choices.made, volcano.choices.rounded
            entries = volcano.session()
            tied = volcano.choices.made > chosen
            rounds = volcano.choices.rounded > rounded
            for entry in entries:  # all pods are bound before an eviction restarts a whole job
                self._starts_pods(self._jobs[entry.job.name], entry)
            for entry in entries:
                job = self._jobs[entry.job.name]
                self._evicts(job, entry)
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
                self._livelock(involved)
                break
        else:
            self._livelock(involved)
        self._has_new, self._left = False, self._bindings.left

    def _livelock(self, names: set[str]) -> None:
        self._livelocks.add(names)
        self._most = max(self._most // 2, _FEWEST)

    def _starts_pods(self, job: JobRun, entry: SessionEntry) -> None:
        """Pods of a job that got nodes in a session start."""
        now = self._agenda.now
        if job.admitted is None and not entry.job.pending:
            job.admitted = now
        job.reason, job.message = entry.reason, entry.message
        for task in entry.bound:
            if not job.active:
                job.active = True
                self._observer.holds(now, job)
            self._kube.bind(task.shape, task.at)
            self._bindings.bind(job, task.shape, task.at)
            job.unbound -= 1
        if entry.bound and job.running:
            pods, gpus = begin_pods(entry.job, now)
            job.pod_starts[now] += pods
            job.work.change(now, gpus)
            for it in entry.bound:
                job.last_nodes[it.at] = job.last_nodes.get(it.at, 0) + 1
            self._starts.end_pods_later(job)
        elif entry.bound and entry.job.ready:
            self._starts.start(job)

    def _evicts(self, job: JobRun, entry: SessionEntry) -> None:
        """Pods are evicted for a job in a session."""
        for eviction in entry.evictions:
            victim = self._jobs[eviction.victim.job.name]
            self._livelocks.preempts(self._agenda.now, job, victim, eviction.reason.value)
            if eviction.victim.status is TaskStatus.RELEASING:
                self._loses(victim, eviction.victim)

    def loses(self, job: JobRun, shape: PodShape, node: int) -> None:
        """kube-scheduler evicts a pod of a job."""
        self._loses(job, running_task(self._volcano.state.jobs[job.arrival.name], shape, node))

    def _loses(self, job: JobRun, task: VolcanoTask) -> None:
        """A pod is evicted. Its controller creates it again, or all pods of the job."""
        now, gang = self._agenda.now, task.job
        restarts = job.arrival.gang is not None and job.arrival.gang.restarts
        for it in [*gang.tasks.values()] if restarts else [task]:
            if it.node is None:
                continue
            if it.status is TaskStatus.SUCCEEDED:
                job.work.lost += gpus_of(dict(it.shape.requests)) * (job.lasts or 0.0)
            else:
                self._bindings.unbind(job, it.shape, it.node)
                if not restarts and it.began is not None:
                    job.work.end_pod(now, gpus_of(dict(it.shape.requests)), it.began, lost=True)
                    job.pod_starts[it.began] -= 1
                    job.last_nodes[it.node] -= 1
            it.began = None
            self._volcano.release(it)
            job.unbound += 1
        if restarts:
            job.done.clear()
        if job.running and (restarts or not gang.ready):
            self._starts.untime(job)
            job.stops(now)
            job.round += 1
            for it in gang.tasks.values():
                it.began = None


def _end(job: JobRun, began: float) -> float:
    """When a pod that began at a time ends; infinite if it does not end."""
    if job.lasts is None:
        return inf
    left = job.arrival.left
    # All pods that run from the start have its time.
    return left if left is not None and began == job.arrival.at else max(began, 0.0) + job.lasts
