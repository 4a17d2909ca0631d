"""The actions of Volcano's scheduler: enqueue, allocate, backfill, preempt, reclaim.

Source: pkg/scheduler/actions of Volcano 1.14.1.
"""

from collections.abc import Callable, Mapping

from policygen.simulate.volcano.heap import PriorityQueue
from policygen.simulate.volcano.job import FitErrors, Phase, TaskStatus, VolcanoJob, VolcanoTask
from policygen.simulate.volcano.session import (
    EvictionReason,
    PodEviction,
    Predicate,
    Session,
    Statement,
)
from policygen.simulate.volcano.state import VolcanoQueue

_PREEMPTABLE = (TaskStatus.BOUND, TaskStatus.RUNNING)


class JobQueues:
    """Queues in their order, and the jobs of each."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.queues: PriorityQueue[VolcanoQueue] = PriorityQueue(session.queue_less)
        self.jobs: dict[str, PriorityQueue[VolcanoJob]] = {}

    def push(self, job: VolcanoJob) -> None:
        """Add a job, and its queue."""
        if job.queue not in self.jobs:
            self.jobs[job.queue] = PriorityQueue(self._session.job_less)
            self.queues.push(self._session.queues[job.queue])
        self.jobs[job.queue].push(job)


def enqueue(session: Session) -> None:
    """Let jobs in whose minimum the queues and the cluster may hold."""
    waiting = JobQueues(session)
    for job in session.choices.jobs(session.jobs):
        if job.pending:
            waiting.push(job)
    while waiting.queues:
        queue = waiting.queues.pop()
        jobs = waiting.jobs[queue.name]
        if not jobs:
            continue
        job = jobs.pop()
        why = "" if job.min_resources is None else session.enqueue_refusal(job)
        if why:
            job.reason, job.message = "Unschedulable", why
        else:
            session.enqueued(job)
            job.phase, job.reason, job.message = Phase.INQUEUE, "", ""
        waiting.queues.push(queue)


def allocate(session: Session) -> None:
    """Give nodes to the tasks of jobs, to all tasks of a gang or to none."""
    waiting = JobQueues(session)
    tasks: dict[VolcanoJob, PriorityQueue[VolcanoTask]] = {}
    for job in session.choices.jobs(session.jobs):
        if job.pending:
            if "enqueue" in session.settings.actions:
                continue
            job.phase = Phase.INQUEUE
        if session.job_refusal(job):
            continue
        found = _pending(session, job, best_effort=False)
        if found:
            tasks[job] = found
            waiting.push(job)
    while waiting.queues:
        queue = waiting.queues.pop()
        jobs = waiting.jobs[queue.name]
        if session.overused(queue) or not jobs:
            continue
        job = jobs.pop()
        statement = _allocate(session, queue, job, tasks[job])
        if statement is not None and session.job_ready(job):
            statement.commit()
            if tasks[job]:
                jobs.push(job)
        waiting.queues.push(queue)


def _pending(
    session: Session, job: VolcanoJob, *, best_effort: bool | None = None
) -> PriorityQueue[VolcanoTask]:
    return PriorityQueue(
        session.task_less,
        (
            it
            for it in job.by_status[TaskStatus.PENDING].values()
            if not it.gated and best_effort in (None, it.best_effort)
        ),
    )


def _allocate(
    session: Session, queue: VolcanoQueue, job: VolcanoJob, tasks: PriorityQueue[VolcanoTask]
) -> Statement | None:
    """Try tasks until the job is ready; None: too few have or will have a node."""
    statement = Statement(session)
    predicate = Predicate(session, evicting=False, caches=True)
    nodes = session.nodes
    while tasks:
        task = tasks.pop()
        if not session.allocatable(queue, task):
            continue
        if task.role and task.role in job.failed_roles:
            job.fit_errors[task.name] = FitErrors(
                f"Task {task.name.rpartition('/')[2]} with role spec {task.role} has already "
                "predicated failed, skip"
            )
            continue
        found = _nodes_for(session, task, predicate)
        if not found:
            if job.goes_on:
                continue
            break
        idle = nodes.with_room(nodes.idle, task.requests, found)
        node = session.best(task, idle or found)
        if idle:
            statement.allocate(task, node)
        else:
            statement.pipeline(task, node, evicts=False)
        if session.job_ready(job):
            break
    if session.job_ready(job) or session.job_pipelined(job):
        return statement
    statement.discard()
    return None


def _nodes_for(session: Session, task: VolcanoTask, predicate: Predicate) -> list[int]:
    """The nodes that have room for a task, now or after others leave; first that which was freed for it."""
    session.prepare(task)
    nodes, at = session.nodes, task.nominated
    if at is not None and nodes.has_room(nodes.future, task.requests, at):
        found, _ = predicate.nodes(task, [at])
        if found:
            return found
    found, refusals = predicate.nodes(task, nodes.indexes)
    if not found:
        task.job.fit_errors[task.name] = refusals.errors
    return found


def backfill(session: Session) -> None:
    """Give nodes to tasks that request nothing."""
    for task in _without_requests(session):
        session.prepare(task)
        every = list(session.nodes.indexes)
        refused = session.refusals(task, every)
        fit = [it for it in every if it not in refused]
        if not fit:
            errors = task.job.fit_errors[task.name] = FitErrors()
            errors.nodes |= refused
            continue
        session.place(task, session.best(task, fit), TaskStatus.ALLOCATED)
        if session.job_ready(task.job):
            for it in [*task.job.by_status[TaskStatus.ALLOCATED].values()]:
                if session.nodes.exceeded(it):
                    break  # pods that are evicted still hold what it needs, so binding fails
                session.bind(it)


def _without_requests(session: Session) -> list[VolcanoTask]:
    """The tasks that request nothing and wait, in their order."""
    waiting = JobQueues(session)
    tasks: dict[VolcanoJob, PriorityQueue[VolcanoTask]] = {}
    for job in session.choices.jobs(session.jobs):
        if job.pending or session.job_refusal(job):
            continue
        for it in [*job.by_status[TaskStatus.PIPELINED].values()]:
            if it.best_effort:
                session.take_back(it)
        found = _pending(session, job, best_effort=True)
        if found:
            tasks[job] = found
            waiting.push(job)
    order = []
    while waiting.queues:
        jobs = waiting.jobs[waiting.queues.pop().name]
        while jobs:
            mine = tasks[jobs.pop()]
            while mine:
                order.append(mine.pop())
    return order


class _Starving:
    """Jobs for which pods may be evicted, by queue."""

    def __init__(self, session: Session) -> None:
        self.queues: list[str] = []
        """Of all jobs that are enqueued."""
        self.all: list[VolcanoJob] = []
        self.jobs: dict[str, PriorityQueue[VolcanoJob]] = {}
        self.tasks: dict[VolcanoJob, PriorityQueue[VolcanoTask]] = {}
        for job in session.choices.jobs(session.jobs):
            if job.pending or session.job_refusal(job):
                continue
            if job.queue not in self.jobs:
                self.queues.append(job.queue)
                self.jobs[job.queue] = PriorityQueue(session.job_less)
            if session.job_starving(job):
                self.all.append(job)
                self.jobs[job.queue].push(job)
                self.tasks[job] = _pending(session, job)


def preempt(session: Session) -> None:
    """Evict tasks for others of the same queue, and of the same job."""
    starving = _Starving(session)
    predicate = Predicate(session, evicting=True, caches=True)
    jobs = session.choices.jobs(starving.all)
    for queue in session.choices.queues(starving.queues):
        _preempt_jobs(session, starving.jobs[queue], starving.tasks, predicate)
        for job in jobs:
            starving.tasks[job] = _pending(session, job)
            _preempt_tasks(session, starving.tasks[job], predicate)


def _preempt_jobs(
    session: Session,
    jobs: PriorityQueue[VolcanoJob],
    tasks: Mapping[VolcanoJob, PriorityQueue[VolcanoTask]],
    predicate: Predicate,
) -> None:
    """Evict tasks of other jobs of the queue."""
    while jobs:
        job = jobs.pop()
        statement = Statement(session)
        assigned = False
        while session.job_starving(job) and tasks[job]:
            task = tasks[job].pop()
            assigned = _preempt(session, statement, task, predicate, _of_other_jobs)
        if not session.job_pipelined(job):
            statement.discard()
            continue
        statement.commit()
        if assigned:
            jobs.push(job)


def _preempt_tasks(
    session: Session, tasks: PriorityQueue[VolcanoTask], predicate: Predicate
) -> None:
    """Evict tasks of a job for its other tasks. What this changes stays, even if the gang cannot start.

    Tasks that are tried here are not tried again with the jobs of their queue, if that queue comes later.
    """
    assigned = True
    while tasks and assigned:
        statement = Statement(session)
        assigned = _preempt(session, statement, tasks.pop(), predicate, _of_same_job)
        statement.commit()


def _of_other_jobs(preemptor: VolcanoTask, task: VolcanoTask) -> bool:
    return task.job is not preemptor.job and task.job.queue == preemptor.job.queue


def _of_same_job(preemptor: VolcanoTask, task: VolcanoTask) -> bool:
    return task.job is preemptor.job


def _preempt(
    session: Session,
    statement: Statement,
    preemptor: VolcanoTask,
    predicate: Predicate,
    meant: Callable[[VolcanoTask, VolcanoTask], bool],
) -> bool:
    """Evict tasks of the best node on which that helps; returns whether the preemptor gets its place."""
    nodes, queue = session.nodes, session.queues[preemptor.job.queue]
    if not preemptor.preempts or session.fits_nominated(preemptor):
        return False
    session.prepare(preemptor)
    for node in _by_score(session, preemptor, _candidates(session, preemptor, predicate)):
        tasks = [
            it
            for it in nodes.tasks[node].values()
            if it.status in _PREEMPTABLE
            and it.preemptable
            and (it.best_effort or not preemptor.best_effort)
            and meant(preemptor, it)
        ]
        # Nearly all jobs have no task of their own there, and plugins choose none of no tasks.
        found = session.preemptable(preemptor, session.choices.victims(tasks)) if tasks else []
        if not _enough(session, preemptor, node, found):
            continue
        victims = _victims(session, preemptor, found)
        evicted = False

        def fits(at: int = node) -> bool:
            return session.allocatable(queue, preemptor) and nodes.has_room(
                nodes.future, preemptor.requests, at
            )

        while victims and not fits():
            victim = victims.pop()
            statement.evict(PodEviction(victim, preemptor, EvictionReason.PREEMPT))
            evicted |= not victim.best_effort
        if fits():
            statement.pipeline(preemptor, node, evicts=evicted)
            return True
    return False


def _by_score(session: Session, task: VolcanoTask, nodes: list[int]) -> list[int]:
    """The nodes, the best first; equal ones in any order."""
    by_score: dict[float, list[int]] = {}
    for node, score in zip(nodes, session.scores.of(task, nodes) if nodes else (), strict=True):
        by_score.setdefault(score, []).append(node)
    return [
        it
        for score in sorted(by_score, reverse=True)
        for it in session.choices.visits(task, by_score[score])
    ]


def _candidates(session: Session, task: VolcanoTask, predicate: Predicate) -> list[int]:
    """The nodes on which evictions can help."""
    errors = task.job.fit_errors.get(task.name)
    hopeless = errors.hopeless if errors else frozenset[int]()
    found, _ = predicate.nodes(task, (it for it in session.nodes.indexes if it not in hopeless))
    return found


def _enough(
    session: Session, preemptor: VolcanoTask, node: int, victims: list[VolcanoTask]
) -> bool:
    """Whether the victims of a node free enough (ValidateVictims)."""
    nodes = session.nodes
    return all(
        amount - nodes.future[name][node] - sum(it.requests.get(name, 0) for it in victims) < 0.1
        for name, amount in preemptor.requests.items()
    )


def _victims(
    session: Session, preemptor: VolcanoTask, found: list[VolcanoTask]
) -> PriorityQueue[VolcanoTask]:
    return PriorityQueue(lambda one, other: session.victim_less(one, other, preemptor), found)


def reclaim(session: Session) -> None:
    """Evict tasks of queues that have more than they deserve."""
    starving = _Starving(session)
    queues = PriorityQueue(session.queue_less, (session.queues[it] for it in starving.queues))
    while queues:
        queue = queues.pop()
        jobs = starving.jobs[queue.name]
        if session.overused(queue):
            continue
        while jobs:
            job = jobs.pop()
            statement = Statement(session)
            while session.job_starving(job) and starving.tasks[job]:
                task = starving.tasks[job].pop()
                if task.preempts and session.preemptive(queue, task):
                    session.prepare(task)
                    _reclaim(session, statement, task)
            if session.job_pipelined(job):
                statement.commit()
            else:
                statement.discard()


def _reclaim(session: Session, statement: Statement, task: VolcanoTask) -> None:
    """Evict tasks of the first node on which that helps."""
    nodes = session.nodes
    predicate = Predicate(session, evicting=True, caches=False)
    for node in session.choices.visits(task, _candidates(session, task, predicate)):
        tasks = [
            it
            for it in nodes.tasks[node].values()
            if it.status is TaskStatus.RUNNING
            and it.preemptable
            and it.job.queue != task.job.queue
            and it.job.queue in session.queues
            and session.queues[it.job.queue].reclaimable
        ]
        if not tasks:
            continue
        found = session.reclaimable(task, session.choices.victims(tasks))
        if not _enough(session, task, node, found):
            continue
        victims = _victims(session, task, found)
        evicted = False
        while victims:
            victim = victims.pop()
            statement.evict(PodEviction(victim, task, EvictionReason.RECLAIM))
            evicted = True
            if nodes.has_room(nodes.future, task.requests, node):
                break
        if nodes.has_room(nodes.future, task.requests, node):
            statement.pipeline(task, node, evicts=evicted)
            return


ACTIONS: Mapping[str, Callable[[Session], None]] = {
    "enqueue": enqueue,
    "allocate": allocate,
    "backfill": backfill,
    "preempt": preempt,
    "reclaim": reclaim,
}
