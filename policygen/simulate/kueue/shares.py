"""The share of a ClusterQueue or cohort in fair sharing.

Source: pkg/cache/scheduler/fair_sharing.go of Kueue 0.19.2.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from policygen.simulate.kueue.amounts import UNLIMITED
from policygen.simulate.kueue.quota import QuotaNode


@dataclass(frozen=True, slots=True)
class FairShare:
    """How much a node borrows, in thousandths of what its parent could have."""

    ratio: float
    """The largest of its resources, before the division by its weight."""
    weight: float
    borrowed: frozenset[int] = frozenset()
    """The pairs that it borrows."""

    @property
    def key(self) -> tuple[bool, float]:
        """Sorts shares. Nodes of weight 0 that borrow have the highest shares."""
        if self.ratio == 0:
            return False, 0.0
        if self.weight == 0:
            return True, self.ratio
        return False, self.ratio / self.weight

    @property
    def infinite(self) -> bool:
        """Whether the node has the weight 0 and borrows."""
        return self.weight == 0 and self.ratio != 0


NONE = FairShare(-1.0, 1.0)
"""Less than every share."""


def share(node: QuotaNode, resources: Sequence[str]) -> FairShare:
    """The share of a node. `resources` has the resource of each pair. A root has no share."""
    if node.parent is None:
        return FairShare(0.0, node.weight)
    borrowed: dict[str, int] = {}
    pairs = []
    for pair in node.pairs:
        over = node.usage[pair] - node.subtree[pair]
        if over > 0:
            borrowed[resources[pair]] = borrowed.get(resources[pair], 0) + over
            pairs.append(pair)
    ratio = 0.0
    if borrowed:
        root_pairs = node.root().pairs
        for resource, amount in borrowed.items():
            lendable = _lendable(node.parent, resource, resources, root_pairs)
            if lendable > 0:
                ratio = max(ratio, float(amount) * 1000.0 / float(lendable))
    return FairShare(ratio, node.weight, frozenset(pairs))


def _lendable(
    parent: QuotaNode, resource: str, resources: Sequence[str], pairs: Iterable[int]
) -> int:
    total = sum(parent.potential[pair] for pair in pairs if resources[pair] == resource)
    return min(total, UNLIMITED)


def precise(value: FairShare) -> float:
    """The weighted share as a number."""
    return math.inf if value.infinite else value.key[1]
