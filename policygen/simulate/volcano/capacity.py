"""The plugin capacity: queues with deserved, guaranteed and most amounts, alone or as a tree.

Source: pkg/scheduler/plugins/capacity/capacity.go of Volcano 1.14.1.
"""

from collections.abc import Sequence

from policygen.simulate.volcano.amounts import (
    CPU,
    MEMORY,
    Amounts,
    above_partly,
    add,
    clip,
    common,
    empty,
    excess,
    fits,
    is_empty,
    largest,
    names,
    subtract,
    within_partly,
)
from policygen.simulate.volcano.job import VolcanoJob, VolcanoTask
from policygen.simulate.volcano.plugin import SessionPlugin
from policygen.simulate.volcano.queue_shares import QueueShare, flat_share, not_guaranteed
from policygen.simulate.volcano.state import VolcanoQueue

ROOT = "root"


class CapacityPlugin(SessionPlugin):
    """Queues in one session."""

    def __init__(
        self,
        queues: dict[str, VolcanoQueue],
        jobs: Sequence[VolcanoJob],
        total: Amounts,
        *,
        hierarchy: bool,
    ) -> None:
        self._queues = queues
        self._total = total
        self._hierarchy = hierarchy
        self.shares: dict[str, QueueShare] = {}
        self.broken = ""
        """Why no queue gets anything: a fault of the tree."""
        if hierarchy:
            self.broken = self._tree(jobs)
        else:
            self._flat(jobs)
        if self.broken:
            self.absent = frozenset({"queue_order", "victim_queue_order"})
        elif not hierarchy:
            self.absent = frozenset({"victim_queue_order"})

    def _flat(self, jobs: Sequence[VolcanoJob]) -> None:
        free = not_guaranteed(self._total, self._queues.values())
        for job in jobs:
            if job.queue not in self.shares:
                queue = self._queues[job.queue]
                self.shares[job.queue] = flat_share(queue, dict(queue.deserved), free)
            self.shares[job.queue].count(job)
        for it in self.shares.values():
            it.deserved = largest(clip(it.deserved, it.limit), it.queue.guarantee)
            it.update(best_effort=1)

    def _tree(self, jobs: Sequence[VolcanoJob]) -> str:
        for queue in self._queues.values():
            self.shares[queue.name] = QueueShare(
                queue, dict(queue.deserved), dict(queue.capability or empty())
            )
        if ROOT not in self.shares:
            return "the queue root does not exist"
        for it in self.shares.values():
            if fault := self._join(it):
                return fault
        for job in jobs:
            mine = self.shares[job.queue]
            if mine.children:
                return f"the PodGroup {job.name} is in the queue {job.queue}, which has children"
            mine.count(job)
        root = self.shares[ROOT]
        if is_empty(root.capability):
            root.capability = self._total
        if is_empty(root.deserved):
            root.deserved = self._total
        root.limit = self._total
        _limit_children(root)
        for it in self.shares.values():
            it.update(best_effort=1)
        return ""

    def _join(self, mine: QueueShare) -> str:
        """Find the ancestors of a queue; returns the fault, if it has one."""
        chain: list[QueueShare] = []
        at = mine
        while at.queue.name != ROOT:
            if at in chain:
                return f"the parents of the queue {mine.queue.name} form a cycle"
            chain.append(at)
            parent = self.shares.get(at.queue.parent or ROOT)
            if parent is None:
                return f"the parent {at.queue.parent} of the queue {at.queue.name} does not exist"
            at = parent
        if chain:
            mine.ancestors = (at, *reversed(chain[1:]))
            mine.ancestors[-1].children.append(mine)
        return ""

    def queue_order(self, one: VolcanoQueue, other: VolcanoQueue) -> float:
        """By priority, then by the share of what is deserved, in a tree below the common parent."""
        if one.priority != other.priority:
            return other.priority - one.priority
        mine, theirs = self.shares[one.name], self.shares[other.name]
        if self._hierarchy:
            if bool(mine.children) != bool(theirs.children):
                return 1 if mine.children else -1
            if not mine.children:
                level = _level(mine, theirs)
                mine, theirs = _below(mine, level), _below(theirs, level)
        if mine.share == theirs.share:
            return is_empty(mine.deserved) - is_empty(theirs.deserved)
        return mine.share - theirs.share

    def victim_queue_order(
        self, one: VolcanoQueue, other: VolcanoQueue, preemptor: VolcanoQueue
    ) -> int:
        """Queues that are nearer in the tree come first."""
        third = self.shares[preemptor.name]
        return _level(self.shares[other.name], third) - _level(self.shares[one.name], third)

    def allocatable(self, queue: VolcanoQueue, task: VolcanoTask) -> bool:
        """The queue and its ancestors have room below their limits."""
        if not queue.open or self.broken:
            return False
        mine = self.shares[queue.name]
        if mine.children:
            return False
        return all(it.allows(task, it.limit) for it in (mine, *mine.ancestors))

    def preemptive(self, queue: VolcanoQueue, task: VolcanoTask) -> bool:
        """Of some resource, the queue has less than it deserves."""
        if self.broken or not queue.open:
            return False
        mine = self.shares[queue.name]
        return within_partly(add(dict(mine.allocated), task.requests), mine.deserved, task.requests)

    def reclaimable(
        self, reclaimer: VolcanoTask, tasks: Sequence[VolcanoTask]
    ) -> list[VolcanoTask]:
        """Tasks of queues that have more than they deserve, and keep what they guarantee."""
        found: list[VolcanoTask] = []
        if self.broken:
            return found
        left: dict[str, Amounts] = {}
        for it in tasks:
            if not common(it.requests, reclaimer.requests):
                continue
            mine = self.shares[it.job.queue]
            allocated = left.setdefault(it.job.queue, dict(mine.allocated))
            if not fits(mine.queue.guarantee, subtract(dict(allocated), it.requests)):
                continue
            shared = any(mine.deserved.get(name, 0) > 0 for name in names(it.requests))
            if not shared or above_partly(allocated, mine.deserved, it.requests):
                subtract(allocated, it.requests)
                found.append(it)
        return found

    def enqueue_refusal(self, job: VolcanoJob) -> str:
        """The queue or an ancestor has no room for the minimum of the job."""
        mine = self.shares.get(job.queue)
        if self.broken or mine is None:
            return self.broken
        if mine.children or not mine.queue.open:
            return f"the queue {job.queue} is not open or has children"
        if job.min_resources is None:
            return ""
        line = (mine, *reversed(mine.ancestors))
        if found := next(filter(None, (it.enqueue_refusal(job) for it in line)), ""):
            return found
        for it in line:
            add(it.inqueue, job.without_gated(job.minimum))
        return ""

    def allocated(self, task: VolcanoTask) -> None:
        """The queue and its ancestors use more."""
        mine = self.shares[task.job.queue]
        for it in (mine, *mine.ancestors):
            add(it.allocated, task.requests)
        mine.update(best_effort=1)

    def deallocated(self, task: VolcanoTask) -> None:
        """The queue and its ancestors use less."""
        mine = self.shares[task.job.queue]
        for it in (mine, *mine.ancestors):
            subtract(it.allocated, task.requests)
        mine.update(best_effort=1)


def _limit_children(parent: QueueShare) -> None:
    """Compute the limits of all queues below one (checkHierarchicalQueue)."""
    guaranteed = empty()
    for it in parent.children:
        add(guaranteed, it.queue.guarantee)
        for name, amount in parent.capability.items():
            if name in (CPU, MEMORY):
                if it.capability[name] <= 0:
                    it.capability[name] = amount
            else:
                it.capability.setdefault(name, amount)
    for it in parent.children:
        free = excess(parent.limit, guaranteed)
        it.limit = clip(add(free, it.queue.guarantee), it.capability)
        _limit_children(it)


def _level(one: QueueShare, other: QueueShare) -> int:
    """The depth of their last common ancestor; that of the root is 0."""
    found = 0
    for depth, (mine, theirs) in enumerate(zip(one.ancestors, other.ancestors, strict=False)):
        if mine is not theirs:
            break
        found = depth
    return found


def _below(mine: QueueShare, level: int) -> QueueShare:
    """The ancestor one step below a depth, or the queue itself."""
    return mine.ancestors[level + 1] if level + 1 < len(mine.ancestors) else mine
