"""In which order a cycle processes the workloads that it tries.

Source: pkg/scheduler/{scheduler,fair_sharing_iterator}.go of Kueue 0.19.2.
"""

from collections.abc import Iterator, Sequence

from policygen.simulate.kueue.entry import CycleEntry
from policygen.simulate.kueue.quota import QuotaNode
from policygen.simulate.kueue.shares import FairShare, share
from policygen.simulate.kueue.state import QueueState


def ordered(state: QueueState, entries: Sequence[CycleEntry]) -> Iterator[CycleEntry]:
    """The entries in order; `state.ties` decides where Kueue has no order.

    With fair sharing, each depends on what was reserved before.
    """
    if len(entries) == 1:
        return iter(entries)
    if state.fair:
        return _tournaments(state, entries)
    return _ranked(state, entries)


def _ranked(state: QueueState, entries: Sequence[CycleEntry]) -> Iterator[CycleEntry]:
    waits: list[CycleEntry] = []
    starts: list[CycleEntry] = []
    for it in entries:
        (waits if it.passive else starts).append(it)
    yield from waits  # their place is not a tie
    left = sorted(starts, key=_place)
    while left:
        place = _place(left[0])
        chosen = state.ties.pick([it for it in left if _place(it) == place])
        left.remove(chosen)
        yield chosen


def _place(entry: CycleEntry) -> tuple[int, int, float]:
    return entry.assignment.height, *_first(entry)


def _first(entry: CycleEntry) -> tuple[int, float]:
    return -entry.workload.priority, entry.workload.queued


def _tournaments(state: QueueState, entries: Sequence[CycleEntry]) -> Iterator[CycleEntry]:
    left = {it.queue.node: it for it in entries}
    while left:
        root = state.ties.pick(list(dict.fromkeys(it.root() for it in left)))
        if root.is_queue:
            yield left.pop(root)
            continue
        winner = _winner(state, root, left, _shares(state, root, left))
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
    state: QueueState,
    cohort: QuotaNode,
    left: dict[QuotaNode, CycleEntry],
    shares: dict[tuple[QuotaNode, QuotaNode], FairShare],
) -> CycleEntry | None:
    """The best entry below a cohort: one of each child cohort, and those of its ClusterQueues."""
    found = [_winner(state, it, left, shares) for it in cohort.children if not it.is_queue]
    found += [left.get(it) for it in cohort.children if it.is_queue]
    ranked = [(_rank(it, cohort, shares), it) for it in found if it is not None]
    if not ranked:
        return None
    best = min(rank for rank, _ in ranked)
    return state.ties.pick([it for rank, it in ranked if rank == best])


def _rank(
    entry: CycleEntry, cohort: QuotaNode, shares: dict[tuple[QuotaNode, QuotaNode], FairShare]
) -> tuple[bool, tuple[bool, float], int, float]:
    value = shares[cohort, entry.queue.node]
    requested = {pair for pair, amount in entry.assignment.usage.items() if amount > 0}
    return not requested.isdisjoint(value.borrowed), value.key, *_first(entry)
