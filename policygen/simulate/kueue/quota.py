"""The quota tree of cohorts and ClusterQueues: what is used, and what is available.

Source: pkg/cache/scheduler/resource_node.go of Kueue 0.19.2. Amounts are integers in Kueue's
units. Quotas and usage are lists by the index of a pair of flavor and resource.
"""

from collections.abc import Iterable, Iterator


class QuotaNode:
    """A ClusterQueue or a cohort of the tree. Its usage is what its own quota and borrowing must hold."""

    __slots__ = (
        "borrowing_limit",
        "children",
        "height",
        "is_queue",
        "lending_limit",
        "loans",
        "local",
        "name",
        "nominal",
        "pairs",
        "parent",
        "potential",
        "subtree",
        "usage",
        "weight",
    )

    def __init__(self, name: str, size: int, *, is_queue: bool, weight: float = 1.0) -> None:
        self.name = name
        self.is_queue = is_queue
        self.weight = weight
        self.parent: QuotaNode | None = None
        self.children: list[QuotaNode] = []
        self.nominal = [0] * size
        self.borrowing_limit: list[int | None] = [None] * size
        self.lending_limit: list[int | None] = [None] * size
        self.pairs: frozenset[int] = frozenset()
        """The pairs that it or a child has a quota of."""
        self.subtree = [0] * size
        """Its nominal quota and what its children lend."""
        self.local = [0] * size
        """The part of `subtree` that it does not lend."""
        self.potential = [0] * size
        """The most that it could ever use."""
        self.usage = [0] * size
        self.height = 0
        self.loans = 0
        """Only of a root: increases whenever a node below it reserves quota and then borrows."""

    def ancestors(self) -> Iterator["QuotaNode"]:
        """Its cohorts, from its parent to the root."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    def root(self) -> "QuotaNode":
        """The topmost cohort, or the node itself without a cohort."""
        node = self
        while node.parent is not None:
            node = node.parent
        return node

    def queues(self) -> Iterator["QuotaNode"]:
        """The ClusterQueues below a cohort: its own before those of its cohorts."""
        yield from (child for child in self.children if child.is_queue)
        for child in self.children:
            if not child.is_queue:
                yield from child.queues()

    def local_available(self, pair: int) -> int:
        """What is free of the part that it does not lend."""
        left = self.local[pair] - self.usage[pair]
        return left if left > 0 else 0  # noqa: FURB136 - max() takes twice as long, in the hottest loop

    def available(self, pair: int) -> int:
        """What it can still use, borrowing included. It may be negative."""
        parent = self.parent
        if parent is None:
            return self.subtree[pair] - self.usage[pair]
        above = parent.available(pair)
        local, used, limit = self.local[pair], self.usage[pair], self.borrowing_limit[pair]
        if limit is not None:
            above = min(above, self.subtree[pair] - local - max(0, used - local) + limit)
        return above + local - used if local > used else above

    def borrows_with(self, pair: int, amount: int = 0) -> bool:
        """Whether it would use more than its own quota with this amount in addition."""
        return self.subtree[pair] < self.usage[pair] + amount

    def borrows(self) -> bool:
        """Whether it, or a cohort above it, uses more than its quota. A root cannot borrow."""
        node = self
        while node.parent is not None:
            if not node.within_nominal(node.pairs):
                return True
            node = node.parent
        return False

    def within_nominal(self, pairs: Iterable[int]) -> bool:
        """Whether it borrows none of these pairs."""
        usage, subtree = self.usage, self.subtree
        for pair in pairs:  # noqa: SIM110 - all() takes twice as long
            if usage[pair] > subtree[pair]:
                return False
        return True

    def add(self, pair: int, amount: int) -> None:
        """Use an amount; what the local part cannot hold is used in the parent."""
        node = self
        while True:
            over = amount - node.local_available(pair)
            node.usage[pair] += amount
            if node.parent is None or over <= 0:
                return
            node, amount = node.parent, over

    def remove(self, pair: int, amount: int) -> None:
        """The inverse of `add`."""
        node = self
        while True:
            in_parent = node.usage[pair] - node.local[pair]
            node.usage[pair] -= amount
            if node.parent is None or in_parent <= 0:
                return
            node, amount = node.parent, min(amount, in_parent)


def settle(root: QuotaNode) -> None:
    """Compute all that follows from the quotas of a tree. Its usage must still be 0."""
    _sum_up(root)
    _reach_down(root)


def _sum_up(node: QuotaNode) -> None:
    size = len(node.nominal)
    node.subtree = list(node.nominal)
    pairs = set(node.pairs)
    node.height = min(len(node.children), 1)
    for child in node.children:
        _sum_up(child)
        pairs |= child.pairs
        for pair in child.pairs:
            node.subtree[pair] += child.subtree[pair] - child.local[pair]
        if not child.is_queue:
            node.height = max(node.height, child.height + 1)
    node.pairs = frozenset(pairs)
    for pair in range(size):
        lent = node.lending_limit[pair]
        node.local[pair] = 0 if lent is None else max(0, node.subtree[pair] - lent)


def _reach_down(node: QuotaNode) -> None:
    for pair in range(len(node.nominal)):
        if node.parent is None:
            node.potential[pair] = node.subtree[pair]
            continue
        most = node.local[pair] + node.parent.potential[pair]
        limit = node.borrowing_limit[pair]
        if limit is not None:
            most = min(most, node.subtree[pair] + limit)
        node.potential[pair] = most
    for child in node.children:
        _reach_down(child)


def borrowing_height(queue: QuotaNode, pair: int, amount: int) -> tuple[int, bool]:
    """How far a request must borrow: the height of the smallest cohort that holds it, and whether it is in one.

    The height is 0 if the request does not borrow. The second value is true if the request fits
    into the quota of a part of the tree, so that it may reclaim from the rest.
    """
    if not queue.borrows_with(pair, amount) or queue.parent is None:
        return 0, queue.parent is not None
    remaining = amount - queue.local_available(pair)
    node = queue
    for node in queue.ancestors():
        if not node.borrows_with(pair, remaining):
            return node.height, node.parent is not None
        remaining -= node.local_available(pair)
    return node.height, False
