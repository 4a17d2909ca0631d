"""Which limits of queues and cohorts keep quota from a ClusterQueue."""

from collections.abc import Iterator

from policygen.simulate.kueue.quota import QuotaNode
from policygen.simulate.why.causes import QuotaLimit

BORROWING, LENDING = "borrowingLimit", "lendingLimit"


def borrowing_limits(queue: QuotaNode, pair: int, asked: int) -> Iterator[QuotaLimit]:
    """The limits of a queue and its cohorts with each of which alone it could not use what is asked."""
    path = (queue, *queue.ancestors())
    limits = [it.borrowing_limit[pair] for it in path]
    for i, (node, limit) in enumerate(zip(path, limits, strict=True)):
        if limit is None or node.parent is None:
            continue
        for j, other in enumerate(path):
            other.borrowing_limit[pair] = limit if i == j else None
        blocks = queue.available(pair) < asked
        for other, old in zip(path, limits, strict=True):
            other.borrowing_limit[pair] = old
        free = without_borrowing_limits(queue, pair)
        if blocks and free > queue.available(pair):
            used = max(node.usage[pair] - node.subtree[pair], 0)
            yield QuotaLimit(_kind(node), node.name, BORROWING, limit, used)


def lending_limits(queue: QuotaNode, pair: int) -> Iterator[QuotaLimit]:
    """The limits of queues and cohorts beside the path to the root, with what these keep free for themselves."""
    path = {queue, *queue.ancestors()}
    for cohort in queue.ancestors():
        for child in cohort.children:
            limit = child.lending_limit[pair]
            if child not in path and limit is not None and (kept := child.local_available(pair)):
                yield QuotaLimit(_kind(child), child.name, LENDING, limit, kept)


def without_borrowing_limits(queue: QuotaNode, pair: int) -> int:
    """What a queue could use if neither it nor a cohort had a borrowing limit."""
    path = (queue, *queue.ancestors())
    limits = [it.borrowing_limit[pair] for it in path]
    for it in path:
        it.borrowing_limit[pair] = None
    found = queue.available(pair)
    for it, old in zip(path, limits, strict=True):
        it.borrowing_limit[pair] = old
    return found


def _kind(node: QuotaNode) -> str:
    return "ClusterQueue" if node.is_queue else "Cohort"
