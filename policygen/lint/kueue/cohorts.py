"""The tree of cohorts and ClusterQueues, and how much quota each of them can reach.

Source: pkg/cache/hierarchy and pkg/cache/scheduler/resource_node.go of Kueue 0.19.2.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction

from msgspec import Struct, field

from policygen.core.finding import Edit, Verb
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.kueue import (
    ClusterQueueView,
    CohortView,
    FlavorResourceQuota,
    ResourceGroup,
)
from policygen.kubernetes.table import Entry
from policygen.lint.kueue.quotas import Owner

_ZERO = Fraction(0)
Cell = tuple[str, str]
"""A flavor and a resource: the key of a quota."""


def cohort_field(owner: Owner) -> str:
    """The name of the field for the cohort of a ClusterQueue or Cohort, in its API version."""
    if owner.object.kind == "Cohort":
        return "parentName"
    return "cohort" if owner.object.version == "v1beta1" else "cohortName"


def joined(cluster: Cluster, owner: Owner) -> tuple[Edit, ...]:
    """The edit that puts a ClusterQueue without a cohort into the only cohort; none if it is unclear."""
    roots = [name for name, it in cluster.derive(forest).cohorts.items() if it.parent is None]
    if len(roots) != 1 or owner.object.kind == "Cohort":
        return ()
    return (Edit(Verb.ADD, owner.at.to("spec", "cohortName"), roots[0]),)


class CohortNode(Struct, eq=False):
    """A cohort, declared by an object or only named, or a ClusterQueue."""

    name: str
    parent: "CohortNode | None" = None
    entry: Entry[CohortView] | None = None
    """The Cohort object; None for a ClusterQueue, and for a cohort that is only named."""
    queue: Entry[ClusterQueueView] | None = None
    quotas: Mapping[Cell, FlavorResourceQuota] = field(default_factory=dict)
    children: "list[CohortNode]" = field(default_factory=list)
    subtree: dict[Cell, Fraction] = field(default_factory=dict)
    """Its own quota, plus the quota that its children lend."""
    cyclic: bool = False
    """Whether it is in or below a cycle, so that Kueue ignores it."""

    def local(self, cell: Cell) -> Fraction:
        """The quota that it does not lend, because of its lending limit."""
        quota = self.quotas.get(cell)
        if quota is None or quota.lending_limit is None:
            return _ZERO
        return max(_ZERO, self.subtree.get(cell, _ZERO) - quota.lending_limit)

    def ceiling(self, cell: Cell) -> Fraction:
        """The largest amount that can be used here if no other queue uses any quota."""
        path: list[CohortNode] = []
        node: CohortNode | None = self
        while node is not None:
            path.append(node)
            node = node.parent
        reach = _ZERO
        for node in reversed(path):
            own = node.subtree.get(cell, _ZERO)
            if node.parent is None:
                reach = own
                continue
            if kept := node.local(cell):
                reach += kept
            quota = node.quotas.get(cell)
            if quota is not None and quota.borrowing_limit is not None:
                reach = min(reach, own + quota.borrowing_limit)
        return reach

    def kept_below(self, cell: Cell) -> Fraction:
        """The quota that the nodes below it do not lend, and use in addition to its own."""
        return sum((it.local(cell) + it.kept_below(cell) for it in self.children), _ZERO)

    def owns(self, cell: Cell) -> bool:
        """Whether it, or a cohort above it but below the root, has quota, which it can reclaim."""
        node = self
        while node.parent is not None:
            if node.subtree.get(cell, 0) > 0:
                return True
            node = node.parent
        return False

    def tree(self) -> "Iterator[CohortNode]":
        """Itself and all below it. Must not be called on a cyclic node."""
        yield self
        for child in self.children:
            yield from child.tree()

    def queues(self) -> "Iterator[CohortNode]":
        """The ClusterQueues in its tree. Must not be called on a cyclic node."""
        return (it for it in self.tree() if it.queue is not None)

    def root(self) -> "CohortNode":
        """The root of its tree. Must not be called on a cyclic node."""
        node = self
        while node.parent is not None:
            node = node.parent
        return node


class Forest(Struct, frozen=True, eq=False):
    """All cohorts and ClusterQueues, by name."""

    cohorts: Mapping[str, CohortNode]
    queues: Mapping[str, CohortNode]
    cycles: tuple[tuple[str, ...], ...]
    """The names of the cohorts of each cycle, starting with the first in alphabetical order."""


def forest(cluster: Cluster) -> Forest:
    """The trees of a cluster; use it with `cluster.derive`."""
    cohorts: dict[str, CohortNode] = {}
    queues: dict[str, CohortNode] = {}

    def cohort(name: str) -> CohortNode:
        if name not in cohorts:
            cohorts[name] = CohortNode(name)
        return cohorts[name]

    for entry in cluster.cohorts:
        node = cohort(entry.name)
        node.entry, node.quotas = entry, cells(entry.fields.resource_groups)
        if entry.fields.parent_name:
            node.parent = cohort(entry.fields.parent_name)
    for queue in cluster.cluster_queues:
        node = CohortNode(queue.name, queue=queue, quotas=cells(queue.fields.resource_groups))
        queues[queue.name] = node
        if queue.fields.cohort_name:
            node.parent = cohort(queue.fields.cohort_name)
    for node in (*cohorts.values(), *queues.values()):
        if node.parent is not None:
            node.parent.children.append(node)
    cycles = _cycles(cohorts)
    _sum(cohorts, queues)
    return Forest(cohorts, queues, cycles)


def cells(groups: tuple[ResourceGroup, ...]) -> dict[Cell, FlavorResourceQuota]:
    """The quotas of resource groups by flavor and resource."""
    return {
        (flavor.name, quota.name): quota
        for group in groups
        for flavor in group.flavors
        for quota in flavor.resources
    }


def _cycles(cohorts: Mapping[str, CohortNode]) -> tuple[tuple[str, ...], ...]:
    """Find the cycles, and mark every node in or below one as cyclic."""
    found: list[tuple[str, ...]] = []
    done: set[str] = set()
    for start in cohorts.values():
        trail: dict[str, int] = {}
        node: CohortNode | None = start
        while node is not None and node.name not in done and node.name not in trail:
            trail[node.name] = len(trail)
            node = node.parent
        if node is not None and node.name in trail:
            ring = list(trail)[trail[node.name] :]
            first = ring.index(min(ring))
            found.append((*ring[first:], *ring[:first]))
        done.update(trail)
    waiting = [cohorts[name] for ring in found for name in ring]
    while waiting:
        node = waiting.pop()
        if not node.cyclic:
            node.cyclic = True
            waiting += node.children
    return tuple(sorted(found))


def _sum(cohorts: Mapping[str, CohortNode], queues: Mapping[str, CohortNode]) -> None:
    """Set `subtree` of every node, from the leaves up."""
    for node in queues.values():
        if not node.cyclic:
            node.subtree = {cell: quota.nominal_quota for cell, quota in node.quotas.items()}
            _lend(node)
    order = [node for node in cohorts.values() if node.parent is None]
    for node in order:  # the list grows during iteration: parents before their children
        order += [child for child in node.children if child.queue is None]
    for node in reversed(order):
        for cell, quota in node.quotas.items():
            node.subtree[cell] = node.subtree.get(cell, _ZERO) + quota.nominal_quota
        _lend(node)


def _lend(node: CohortNode) -> None:
    """Add the quota that a node lends to its parent."""
    if node.parent is not None:
        above = node.parent.subtree
        for cell, amount in node.subtree.items():
            lent = amount - kept if (kept := node.local(cell)) else amount
            above[cell] = above[cell] + lent if cell in above else lent
