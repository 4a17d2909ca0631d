"""Volcano's scheduler over time: jobs come and end, and each session gives some of them nodes."""

from dataclasses import dataclass, field
from enum import Enum

from policygen.simulate.volcano.actions import ACTIONS
from policygen.simulate.volcano.choices import Choices
from policygen.simulate.volcano.job import TaskStatus, VolcanoJob, VolcanoTask
from policygen.simulate.volcano.kubernetes_view import KubernetesView
from policygen.simulate.volcano.session import PodEviction, Session
from policygen.simulate.volcano.settings import SchedulerSettings
from policygen.simulate.volcano.state import VolcanoState


class SessionOutcome(Enum):
    """What a session did with a job."""

    STARTED = "started"
    """Some of its pods got their nodes."""
    EVICTING = "evicting"
    """It waits for pods that are evicted for it."""
    ENQUEUED = "enqueued"
    """Its pods are created now."""
    NOT_ENQUEUED = "not-enqueued"
    WAITING = "waiting"
    """It is enqueued, and no nodes, or not all for its gang, have room."""


@dataclass(slots=True, eq=False)
class SessionEntry:
    """A job that has pending pods in a session, and what becomes of it."""

    job: VolcanoJob
    outcome: SessionOutcome
    bound: list[VolcanoTask] = field(default_factory=list)
    evictions: list[PodEviction] = field(default_factory=list)
    """Pods that are evicted for it."""
    reason: str = ""
    message: str = ""


class VolcanoScheduler:
    """Volcano's scheduler with a state."""

    def __init__(
        self, state: VolcanoState, settings: SchedulerSettings, choices: Choices | None = None
    ) -> None:
        self.state = state
        self.settings = settings
        self.choices = choices or Choices()
        self._view = KubernetesView(state.nodes.table, settings)

    def submit(self, job: VolcanoJob) -> None:
        """A PodGroup is created, with the pods that it has. Others may be in `unborn`."""
        self.state.jobs[job.name] = job
        for task in job.tasks.values():
            self.state.add_task(task)
        for task in job.unborn:
            self.state.nodes.known(task.requests)
            self.state.nodes.table.know(task.shape)

    def finish(self, job: VolcanoJob) -> None:
        """A job ends, or is deleted."""
        for task in [*job.tasks.values()]:
            self.state.remove_task(task)
        del self.state.jobs[job.name]

    def release(self, task: VolcanoTask, *, again: bool = True) -> None:
        """An evicted pod is gone; `again`: its controller creates it anew."""
        job = task.job
        self.state.remove_task(task)
        if again:
            task.status, task.node, task.nominated = TaskStatus.PENDING, None, None
            job.add(task)
            self.state.add_task(task)

    def complete(self, task: VolcanoTask) -> None:
        """A pod has ended. It frees its node, and still counts for its gang."""
        job = task.job
        self.state.remove_task(task)
        task.status = TaskStatus.SUCCEEDED
        job.add(task)

    def evicted(self) -> list[VolcanoTask]:
        """The pods that must leave and still hold their nodes."""
        return [
            it
            for job in self.state.jobs.values()
            for it in job.by_status[TaskStatus.RELEASING].values()
        ]

    def waits(self) -> bool:
        """Whether a job has pods without a node."""
        return any(it.unborn or it.by_status[TaskStatus.PENDING] for it in self.state.jobs.values())

    def session(self) -> list[SessionEntry]:
        """Run one session. Bound pods run at once; evicted ones hold their nodes until `release`."""
        waiting = [
            it
            for it in self.state.jobs.values()
            if it.queue in self.state.queues and (it.pending or it.by_status[TaskStatus.PENDING])
        ]
        entries = {
            it: SessionEntry(it, SessionOutcome.ENQUEUED if it.unborn else SessionOutcome.WAITING)
            for it in waiting
        }
        session = self.run()
        for eviction in session.evictions:
            entry = entries[eviction.preemptor.job]
            entry.evictions.append(eviction)
            entry.outcome = SessionOutcome.EVICTING
        for task in session.bound:
            entry = entries[task.job]
            entry.bound.append(task)
            entry.outcome = SessionOutcome.STARTED
            task.job.change(task, TaskStatus.RUNNING)
        for job, entry in entries.items():
            entry.reason, entry.message = job.reason, job.message
            if job.pending:
                entry.outcome = SessionOutcome.NOT_ENQUEUED
            else:
                self.create(job)
        return list(entries.values())

    def create(self, job: VolcanoJob) -> None:
        """Its controller creates the pods of an enqueued job."""
        for task in job.unborn:
            job.add(task)
            self.state.add_task(task)
        job.unborn.clear()

    def look(self) -> Session:
        """A session that runs no action, to see what its plugins decide. It chooses nothing at random."""
        return Session(self.state, self.settings, self._view, Choices(None))

    def run(self) -> Session:
        """Run the actions of one session."""
        session = Session(self.state, self.settings, self._view, self.choices)
        for action in self.settings.actions:
            if action in ACTIONS:
                ACTIONS[action](session)
        session.close()
        return session
