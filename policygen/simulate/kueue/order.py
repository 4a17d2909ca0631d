"""In which order a cycle processes the workloads that it tries.

Source: pkg/scheduler/{scheduler,fair_sharing_iterator}.go of Kueue 0.19.2.
"""

from collections.abc import Iterator, Sequence

from policygen.simulate.kueue.entry import CycleEntry
from policygen.simulate.kueue.quota import QuotaNode
from policygen.simulate.kueue.shares import FairShare, share
from policygen.simulate.kueue.state import QueueState


def ordered(state: QueueState, entries: Sequence[CycleEntry]) -> Iterator[CycleEntry]:
    """The entries, in order. With fair sharing, each depends on what was reserved before."""
    if state.fair:
        return _tournaments(state, entries)
    return iter(sorted(entries, key=lambda it: (it.assignment.height, *_first(it))))


def _first(entry: CycleEntry) -> tuple[int, float]:
    return -entry.workload.priority, entry.workload.created


def _tournaments(state: QueueState, entries: Sequence[CycleEntry]) -> Iterator[CycleEntry]:
    left = {it.queue.node: it for it in entries}
    while left:
        node = next(iter(left))
        if node.parent is None:
            yield left.pop(node)
            continue
        root = node.root()
        shares = _shares(state, root, left)
        winner = _winner(root, left, shares)
        if winner is not None:
            yield left.pop(winner.queue.node)


def _shares(
    state: QueueState, root: QuotaNode, left: dict[QuotaNode, CycleEntry]
) -> dict[tuple[QuotaNode, QuotaNode], FairShare]:
    """The share that each entry's queue, or its cohort, would have: by its parent and the queue."""
    found: dict[tuple[QuotaNode, QuotaNode], FairShare] = {}
    for queue in root.queues():
        entry = left.get(queue)
        if entry is None:
            continue
        with state.using(queue, entry.assignment.usage):
            node = queue
            while node.parent is not None:
                found[node.parent, queue] = share(node, state.resources)
                node = node.parent
    return found


def _winner(
    cohort: QuotaNode,
    left: dict[QuotaNode, CycleEntry],
    shares: dict[tuple[QuotaNode, QuotaNode], FairShare],
) -> CycleEntry | None:
    """The best entry below a cohort: cohorts are compared before ClusterQueues."""
    candidates = [_winner(it, left, shares) for it in cohort.children if not it.is_queue]
    candidates += [left.get(it) for it in cohort.children if it.is_queue]
    best: CycleEntry | None = None
    for it in candidates:
        if it is not None and (
            best is None or _rank(it, cohort, shares) < _rank(best, cohort, shares)
        ):
            best = it
    return best


def _rank(
    entry: CycleEntry, cohort: QuotaNode, shares: dict[tuple[QuotaNode, QuotaNode], FairShare]
) -> tuple[bool, tuple[bool, float], int, float]:
    value = shares[cohort, entry.queue.node]
    requested = {pair for pair, amount in entry.assignment.usage.items() if amount > 0}
    return not requested.isdisjoint(value.borrowed), value.key, *_first(entry)
