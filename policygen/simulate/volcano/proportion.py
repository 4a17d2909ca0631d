"""The plugin proportion: the weights of queues divide the cluster.

Source: pkg/scheduler/plugins/proportion/proportion.go of Volcano 1.14.1.
"""

import math
from collections.abc import Mapping, Sequence

from policygen.simulate.volcano.amounts import (
    Amounts,
    add,
    clip,
    differences,
    empty,
    excess,
    fits,
    is_empty,
    largest,
    subtract,
)
from policygen.simulate.volcano.choices import Choices
from policygen.simulate.volcano.job import VolcanoJob, VolcanoTask
from policygen.simulate.volcano.plugin import SessionPlugin
from policygen.simulate.volcano.queue_shares import QueueShare, flat_share, not_guaranteed
from policygen.simulate.volcano.state import VolcanoQueue

_LAST_PLACES = 1e-3
"""Sums of the same numbers in different orders differ by less."""


class ProportionPlugin(SessionPlugin):
    """Queues in one session."""

    def __init__(
        self,
        queues: dict[str, VolcanoQueue],
        jobs: Sequence[VolcanoJob],
        total: Amounts,
        choices: Choices,
    ) -> None:
        self.shares: dict[str, QueueShare] = {}
        free = not_guaranteed(total, queues.values())
        for job in jobs:
            if job.queue not in self.shares:
                self.shares[job.queue] = flat_share(queues[job.queue], empty(), free)
            self.shares[job.queue].count(job)
        order = choices.sums([*self.shares.values()])
        self._divide(order, total)
        if any(map(_rounded, self._deserved())):
            deserved = [*self._deserved()]
            turned = [order[i:] + order[:i] for i in range(len(order))]
            others = (it for one in turned for it in (one, one[::-1]))
            if any(self._differs(it, total, deserved) for it in others):
                choices.rounded += 1
            self._divide(order, total)

    def _deserved(self) -> list[Amounts]:
        return [it.deserved for it in self.shares.values()]

    def _differs(
        self, order: Sequence[QueueShare], total: Amounts, deserved: Sequence[Amounts]
    ) -> bool:
        """Whether another order of the sums leaves a queue a unit more or less."""
        self._divide(order, total)
        return [*map(_whole, self._deserved())] != [*map(_whole, deserved)]

    def _divide(self, order: Sequence[QueueShare], total: Amounts) -> None:
        """Divide the cluster by weight; what a queue does not request goes to the others."""
        remaining = dict(total)
        met: set[QueueShare] = set()
        for it in order:
            it.deserved = empty()
        while weights := sum(it.queue.weight for it in order if it not in met):
            before = dict(remaining)
            more, less = empty(), empty()
            for it in [it for it in order if it not in met]:
                old = dict(it.deserved)
                part = it.queue.weight / weights
                add(it.deserved, {name: amount * part for name, amount in remaining.items()})
                clip(it.deserved, it.limit)
                clip(it.deserved, it.requested, unlimited=False)
                it.deserved = largest(it.deserved, it.queue.guarantee)
                it.update(best_effort=None)
                if fits(it.requested, it.deserved) or it.deserved == old:
                    met.add(it)
                increase, decrease = differences(it.deserved, old)
                add(more, increase)
                add(less, decrease)
            remaining = excess(add(remaining, less), more)
            if is_empty(remaining) or remaining == before:
                break

    def queue_order(self, one: VolcanoQueue, other: VolcanoQueue) -> float:
        """By priority, then by the share of what is deserved."""
        if one.priority != other.priority:
            return other.priority - one.priority
        return self.shares[one.name].share - self.shares[other.name].share

    def reclaimable(
        self,
        reclaimer: VolcanoTask,  # noqa: ARG002 - of the protocol
        tasks: Sequence[VolcanoTask],
    ) -> list[VolcanoTask]:
        """Tasks of queues that have more than they deserve."""
        left: dict[str, Amounts] = {}
        found = []
        for it in tasks:
            mine = self.shares[it.job.queue]
            allocated = left.setdefault(it.job.queue, dict(mine.allocated))
            if not fits(allocated, mine.deserved):
                subtract(allocated, it.requests)
                found.append(it)
        return found

    def overused(self, queue: VolcanoQueue) -> bool:
        """It has all that it deserves."""
        mine = self.shares[queue.name]
        return fits(mine.deserved, mine.allocated)

    def allocatable(self, queue: VolcanoQueue, task: VolcanoTask) -> bool:
        """It has less than it deserves."""
        mine = self.shares[queue.name]
        return queue.open and mine.allows(task, mine.deserved)

    def preemptive(self, queue: VolcanoQueue, task: VolcanoTask) -> bool:
        """The same."""
        return self.allocatable(queue, task)

    def enqueue_refusal(self, job: VolcanoJob) -> str:
        """Its limit has no room for the minimum of the job."""
        mine = self.shares[job.queue]
        if not mine.queue.open:
            return f"the queue {job.queue} is not open"
        if job.min_resources is None:
            return ""
        if found := mine.enqueue_refusal(job):
            return found
        add(mine.inqueue, job.without_gated(job.minimum))
        return ""

    def allocated(self, task: VolcanoTask) -> None:
        """The queue uses more."""
        mine = self.shares[task.job.queue]
        add(mine.allocated, task.requests)
        mine.update(best_effort=None)

    def deallocated(self, task: VolcanoTask) -> None:
        """The queue uses less."""
        mine = self.shares[task.job.queue]
        subtract(mine.allocated, task.requests)
        mine.update(best_effort=None)


def _whole(amounts: Mapping[str, float]) -> dict[str, int | float]:
    """Requests are whole units, so that only whole units count."""
    return {
        name: math.floor(amount) if math.isfinite(amount) else amount
        for name, amount in amounts.items()
    }


def _rounded(amounts: Mapping[str, float]) -> bool:
    """Whether the last place of a sum may decide about a unit."""
    return any(
        not isinstance(it, int) and math.isfinite(it) and abs(it - round(it)) < _LAST_PLACES
        for it in amounts.values()
    )
