"""What the plugins capacity and proportion know of a queue in a session.

Source: pkg/scheduler/plugins/{capacity,proportion} of Volcano 1.14.1.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from policygen.simulate.volcano.amounts import (
    CPU,
    MEMORY,
    Amounts,
    add,
    clip,
    empty,
    excess,
    excesses,
    is_empty,
    names,
    share,
    subtract,
)
from policygen.simulate.volcano.job import TaskStatus, VolcanoJob, VolcanoTask
from policygen.simulate.volcano.overcommit import refusal
from policygen.simulate.volcano.state import VolcanoQueue


@dataclass(slots=True, eq=False)
class QueueShare:
    """A queue in a session."""

    queue: VolcanoQueue
    deserved: Amounts
    capability: Amounts = field(default_factory=empty)
    limit: Amounts = field(default_factory=empty)
    """The most that it may use (realCapability)."""
    allocated: Amounts = field(default_factory=empty)
    requested: Amounts = field(default_factory=empty)
    elastic: Amounts = field(default_factory=empty)
    """What its jobs use above their minimum."""
    inqueue: Amounts = field(default_factory=empty)
    """What is reserved for pods without a node."""
    share: float = 0.0
    ancestors: tuple["QueueShare", ...] = ()
    """From the root down."""
    children: list["QueueShare"] = field(default_factory=list)

    def count(self, job: VolcanoJob) -> None:
        """Count a job in the queue and its ancestors."""
        pending = job.by_status[TaskStatus.PENDING].values()
        minimum = excess(job.allocated, job.minimum)
        for it in (self, *self.ancestors):
            add(it.allocated, job.allocated)
            add(it.requested, job.allocated)
            for task in pending:
                add(it.requested, task.requests)
            add(it.inqueue, job.reserved)
            add(it.elastic, minimum)

    def enqueue_refusal(self, job: VolcanoJob) -> str:
        """Why its limit leaves no room for the minimum of a job."""
        used = dict(job.minimum)
        add(add(used, self.allocated), self.inqueue)
        short = excesses(subtract(used, self.elastic), self.limit, job.minimum)
        return refusal("queue resource quota insufficient", "insufficient", short)

    def allows(self, task: VolcanoTask, limit: Amounts) -> bool:
        """Whether a task is within a limit."""
        return not excesses(add(dict(self.allocated), task.requests), limit, task.requests)

    def update(self, *, best_effort: float | None) -> None:
        """Compute its share; `best_effort` is that of a queue that deserves nothing, if it has its own."""
        if best_effort is not None and is_empty(self.deserved):
            self.share = best_effort
            return
        self.share = max(
            (share(self.allocated.get(it, 0), self.deserved[it]) for it in names(self.deserved)),
            default=0.0,
        )


def flat_share(queue: VolcanoQueue, deserved: Amounts, free: Amounts) -> QueueShare:
    """A queue without parents; `free` is what no queue guarantees."""
    limit = add(dict(free), queue.guarantee)
    if queue.capability:
        capability = dict(queue.capability)
        for name in (CPU, MEMORY):
            if capability[name] <= 0:
                capability[name] = math.inf
        return QueueShare(queue, deserved, capability, clip(limit, capability))
    return QueueShare(queue, deserved, empty(), limit)


def not_guaranteed(total: Amounts, queues: Iterable[VolcanoQueue]) -> Amounts:
    """What no queue guarantees."""
    guaranteed = empty()
    for it in queues:
        add(guaranteed, it.guarantee)
    return excess(total, guaranteed)
