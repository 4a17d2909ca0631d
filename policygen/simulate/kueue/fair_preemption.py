"""Whom a workload may preempt with fair sharing.

Source: pkg/scheduler/preemption (fairPreemptions) and its package fairsharing, of Kueue 0.19.2.
"""

from collections.abc import Iterator

from policygen.simulate.kueue.queue import NEVER, SimulatedQueue
from policygen.simulate.kueue.quota import QuotaNode
from policygen.simulate.kueue.shares import NONE, FairShare, share
from policygen.simulate.kueue.state import FINAL_SHARE
from policygen.simulate.kueue.victims import PreemptionReason, Preemptor, Victim
from policygen.simulate.kueue.workload import QueuedWorkload


def targets(preemptor: Preemptor) -> list[Victim]:
    """As `preemption.targets`, for clusters with fair sharing."""
    candidates = sorted(_candidates(preemptor), key=preemptor.order)
    if not candidates:
        return []
    state = preemptor.state
    search = _Search(preemptor)
    with state.using(preemptor.queue.node, preemptor.requested):
        complete = search.first(candidates)
        if not complete and len(state.strategies) > 1:
            complete = search.second()
    if complete:
        return preemptor.spare(search.found)
    preemptor.restore(search.found)
    return []


def _candidates(preemptor: Preemptor) -> Iterator[QueuedWorkload]:
    queue, state = preemptor.queue, preemptor.state
    yield from preemptor.candidates(queue, queue.within_cluster_queue)
    if queue.node.parent is None or queue.reclaim_within_cohort == NEVER:
        return
    for node in queue.node.root().queues():
        if node is not queue.node and not node.within_nominal(preemptor.needs):
            yield from preemptor.candidates(state.of_node[node], queue.reclaim_within_cohort)


class _Search:
    """One search for victims; those found hold no quota."""

    def __init__(self, preemptor: Preemptor) -> None:
        self._preemptor = preemptor
        self._state = preemptor.state
        self._queue = preemptor.queue
        self.found: list[Victim] = []
        self._rejected: list[QueuedWorkload] = []

    def first(self, candidates: list[QueuedWorkload]) -> bool:
        """Search with the first strategy; true once the workload fits."""
        within_nominal = self._queue.node.within_nominal(self._preemptor.needs)
        queues = _QueueOrder(self._preemptor, candidates)
        for target in queues:
            if target is self._queue:
                done = self._take(queues.pop(target), PreemptionReason.IN_CLUSTER_QUEUE)
            elif within_nominal:
                done = self._take(queues.pop(target), PreemptionReason.IN_COHORT_RECLAMATION)
            else:
                done = self._take_fairly(queues, target)
            if done:
                return True
        return False

    def second(self) -> bool:
        """Try the rejected candidates, at most one of each queue."""
        queues = _QueueOrder(self._preemptor, self._rejected)
        for target in queues:
            new, old = self._shares(target)
            candidate = queues.pop(target)
            if new.key < old.key and self._take(candidate, PreemptionReason.IN_COHORT_FAIR_SHARING):
                return True
            queues.drop(target)
        return False

    def _take(self, workload: QueuedWorkload, reason: PreemptionReason) -> bool:
        """Take a victim; true if the workload fits now. It is counted as if it already ran."""
        self._state.take_out(workload)
        self.found.append(Victim(workload, reason))
        node, requested = self._queue.node, self._preemptor.requested
        self._state.free(node, requested.items())
        done = self._preemptor.fits()
        self._state.reserve(node, requested.items())
        return done

    def _take_fairly(self, queues: "_QueueOrder", target: SimulatedQueue) -> bool:
        """Take the first candidate of a queue that the strategy allows, if there is one."""
        new, old = self._shares(target)
        if new.infinite and not old.infinite:
            self._rejected += queues.drain(target)
            return False
        while queues.has(target):
            candidate = queues.pop(target)
            if self._allows(new, old, target, candidate):
                return self._take(candidate, PreemptionReason.IN_COHORT_FAIR_SHARING)
            self._rejected.append(candidate)
        return False

    def _allows(
        self, new: FairShare, old: FairShare, target: SimulatedQueue, candidate: QueuedWorkload
    ) -> bool:
        if self._state.strategies[0] != FINAL_SHARE:
            return new.key < old.key
        with self._state.without([candidate]):
            _, after = self._shares(target)
        return new.key <= after.key

    def _shares(self, target: SimulatedQueue) -> tuple[FairShare, FairShare]:
        """The shares of both queues, or of their cohorts just below the smallest common one."""
        ancestors = set(self._queue.node.ancestors())
        other = _below(target.node, ancestors)
        own = _below(self._queue.node, {it for it in ancestors if it is other.parent})
        resources = self._state.resources
        return share(own, resources), share(other, resources)


def _below(node: QuotaNode, cohorts: set[QuotaNode]) -> QuotaNode:
    """The ancestor of a node, or the node, whose parent is one of these cohorts."""
    while node.parent is not None and node.parent not in cohorts:
        node = node.parent
    return node


class _QueueOrder:
    """The queues in the order in which candidates are taken from them: the highest share first."""

    def __init__(self, preemptor: Preemptor, candidates: list[QueuedWorkload]) -> None:
        self._preemptor = preemptor
        self._state = preemptor.state
        self._queue = preemptor.queue
        self._left: dict[str, list[QueuedWorkload]] = {}
        for it in candidates:
            self._left.setdefault(self._state.queue_of(it).name, []).append(it)
        self._pruned: set[QuotaNode] = set()
        self._ancestors = set(preemptor.queue.node.ancestors())

    def __iter__(self) -> Iterator[SimulatedQueue]:
        """One queue after the other; the caller takes or drops what is next of it."""
        root = self._queue.node.root()
        while root not in self._pruned:
            node = root if root.is_queue else self._next(root)
            if node is None:
                continue
            queue = self._state.of_node[node]
            if not self.has(queue):
                return
            yield queue

    def has(self, queue: SimulatedQueue) -> bool:
        """Whether a candidate of the queue is left."""
        return bool(self._left.get(queue.name))

    def pop(self, queue: SimulatedQueue) -> QueuedWorkload:
        """Take the next candidate of a queue."""
        return self._left[queue.name].pop(0)

    def drain(self, queue: SimulatedQueue) -> list[QueuedWorkload]:
        """Take all candidates of a queue."""
        return self._left.pop(queue.name, [])

    def drop(self, queue: SimulatedQueue) -> None:
        """Leave out a queue from now on."""
        self._pruned.add(queue.node)

    def _next(self, cohort: QuotaNode) -> QuotaNode | None:
        """The queue of the highest share, searched from a cohort downwards."""
        queue, of_queue = self._highest_queue(cohort)
        child, of_child = self._highest_cohort(cohort)
        if child is not None and of_child.key >= of_queue.key:
            return self._next(child)
        if queue is None:
            self._pruned.add(cohort)
        return queue

    def _highest_queue(self, cohort: QuotaNode) -> tuple[QuotaNode | None, FairShare]:
        """The queue of a cohort with the highest share; prunes those that have nothing to take."""
        best, highest = None, NONE
        for node in cohort.children:
            if not node.is_queue or node in self._pruned:
                continue
            value = share(node, self._state.resources)
            queue = self._state.of_node[node]
            if (not value.borrowed and queue is not self._queue) or not self.has(queue):
                self._pruned.add(node)
            elif (
                best is None
                or value.key > highest.key
                or (value.key == highest.key and self._first(node) < self._first(best))
            ):
                best, highest = node, value
        return best, highest

    def _highest_cohort(self, cohort: QuotaNode) -> tuple[QuotaNode | None, FairShare]:
        """The cohort below a cohort with the highest share; any of several."""
        found: list[QuotaNode] = []
        highest = NONE
        for node in cohort.children:
            if node.is_queue or node in self._pruned:
                continue
            value = share(node, self._state.resources)
            if not value.borrowed and node not in self._ancestors:
                self._pruned.add(node)
            elif value.key > highest.key:
                found, highest = [node], value
            elif value.key == highest.key:
                found.append(node)
        return self._state.ties.pick(found) if found else None, highest

    def _first(self, node: QuotaNode) -> tuple[bool, bool, int, float, str]:
        return self._preemptor.order(self._left[self._state.of_node[node].name][0])
