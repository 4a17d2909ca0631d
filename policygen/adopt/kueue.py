"""Reads the trees of teams from the cohorts and queues of Kueue."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from policygen.adopt.trees import TeamBranch, TeamTree, amount, is_extended, label, unused
from policygen.core.names import NAMESPACE_NAME
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.core import LabelSelector
from policygen.kubernetes.kueue import ClusterQueueView, CohortView, ResourceGroup
from policygen.kubernetes.object import Object
from policygen.kubernetes.table import Entry
from policygen.plan.amounts import Vector
from policygen.spec.derived_names import queue as queue_name

OWN = "own"
"""The end of the name of a team's own leaf, as `derived_names.own_leaf` composes it."""

Quotas = dict[str, dict[str, int]]
"""Amounts by flavor and resource."""


class _Cells(Struct, frozen=True):
    """The quotas of one object."""

    nominal: Quotas
    borrowing: Quotas
    """Without the resources that have no limit."""
    kept: bool
    """Whether nothing of a quota is lent, as where nothing can be reclaimed."""


class _QueueNode(Struct, frozen=True, eq=False):
    """A cohort or ClusterQueue, by the name of the node above; "" if it has none."""

    name: str
    above: str
    entry: Entry[ClusterQueueView] | Entry[CohortView] | None
    """None for a cohort that exists only because a queue names it."""
    cells: _Cells

    @property
    def is_queue(self) -> bool:
        """Whether it is a ClusterQueue."""
        return self.entry is not None and isinstance(self.entry.fields, ClusterQueueView)


def trees(cluster: Cluster) -> Iterator[TeamTree]:
    """One tree for each set of flavors that quotas connect.

    A team's guarantee is its nominal quota and that of all below it, since Kueue adds the nominal
    quota of a cohort to those of its members. Flavors without a GPU are no pools.
    """
    nodes = _nodes(cluster)
    below: defaultdict[str, list[_QueueNode]] = defaultdict(list)
    for node in nodes:
        below[node.above].append(node)
    for tops, flavors in _groups(below):
        members = [it for top in tops for it in _with_all_below(top, below)]
        for names in _queues(members, flavors):
            yield _TreeReader(tops, members, names, below, cluster).read()


def local_queues(cluster: Cluster) -> Mapping[str, Sequence[Object]]:
    """The LocalQueues of each ClusterQueue; use it with `cluster.derive`."""
    found: defaultdict[str, list[Object]] = defaultdict(list)
    for it in cluster.local_queues:
        found[it.fields.cluster_queue].append(it.object)
    return found


def _groups(below: Mapping[str, Sequence[_QueueNode]]) -> list[tuple[list[_QueueNode], list[str]]]:
    """The nodes at the top, with the flavors below them; those with a common flavor together."""
    groups: list[tuple[list[_QueueNode], list[str]]] = []
    for top in below.get("", ()):
        tops = [top]
        flavors = _flavors(_with_all_below(top, below))
        for known in [it for it in groups if set(it[1]) & set(flavors)]:
            groups.remove(known)
            tops = [*known[0], *tops]
            flavors = list(dict.fromkeys((*known[1], *flavors)))
        if flavors:
            groups.append((tops, flavors))
    return groups


def _flavors(nodes: Iterable[_QueueNode]) -> list[str]:
    """The flavors with a GPU, in the order of the quotas."""
    return list(
        dict.fromkeys(
            flavor
            for node in nodes
            for flavor, vector in node.cells.nominal.items()
            if any(map(is_extended, vector))
        )
    )


def _queues(members: Sequence[_QueueNode], flavors: Sequence[str]) -> list[tuple[str, ...]]:
    """The flavors of each queue: all are alternatives if they have the same resources."""
    resources = {
        flavor: frozenset(
            it for node in members for it in node.cells.nominal.get(flavor, {}) if is_extended(it)
        )
        for flavor in flavors
    }
    alike = len(set(resources.values())) == 1
    return [tuple(flavors)] if alike else [(it,) for it in flavors]


def _nodes(cluster: Cluster) -> list[_QueueNode]:
    """All cohorts, then all queues. Cohorts in a cycle are the tops of their own trees."""
    # The server refuses a cohort without a name, which would be above all others.
    cohorts = {it.name: it for it in cluster.cohorts if it.name}
    named = {it.fields.cohort_name for it in cluster.cluster_queues} | {
        it.fields.parent_name for it in cluster.cohorts
    }
    nodes = []
    for name in [*cohorts, *sorted(named - cohorts.keys() - {""})]:
        entry = cohorts.get(name)
        above = entry.fields.parent_name if entry else ""
        if above and _is_cycle(name, cohorts):
            above = ""
        groups = entry.fields.resource_groups if entry else ()
        nodes.append(_QueueNode(name, above, entry, _cells(groups)))
    for queue in cluster.cluster_queues:
        fields = queue.fields
        nodes.append(
            _QueueNode(queue.name, fields.cohort_name, queue, _cells(fields.resource_groups))
        )
    return nodes


def _is_cycle(name: str, cohorts: Mapping[str, Entry[CohortView]]) -> bool:
    seen: set[str] = set()
    while name and name not in seen:
        seen.add(name)
        name = cohorts[name].fields.parent_name if name in cohorts else ""
    return bool(name)


def _with_all_below(
    top: _QueueNode, below: Mapping[str, Sequence[_QueueNode]]
) -> Iterator[_QueueNode]:
    yield top
    for node in () if top.is_queue else below.get(top.name, ()):
        yield from _with_all_below(node, below)


def _cells(groups: Iterable[ResourceGroup]) -> _Cells:
    nominal: defaultdict[str, dict[str, int]] = defaultdict(dict)
    borrowing: defaultdict[str, dict[str, int]] = defaultdict(dict)
    kept = False
    for group in groups:
        for flavor in group.flavors:
            for cell in flavor.resources:
                nominal[flavor.name][cell.name] = amount(cell.name, cell.nominal_quota)
                kept = kept or cell.lending_limit == 0
                if cell.borrowing_limit is not None:
                    borrowing[flavor.name][cell.name] = amount(cell.name, cell.borrowing_limit)
    return _Cells(nominal, borrowing, kept)


class _TreeReader:
    """Reads the tree of one queue."""

    def __init__(
        self,
        tops: Sequence[_QueueNode],
        members: Sequence[_QueueNode],
        flavors: tuple[str, ...],
        below: Mapping[str, Sequence[_QueueNode]],
        cluster: Cluster,
    ) -> None:
        only = tops[0] if len(tops) == 1 and not tops[0].is_queue else None
        self.root = only
        """The cohort above all others, which is the queue itself."""
        self.members = [it for it in members if it is not only]
        self.flavors = flavors
        self.below = below
        self.cluster = cluster
        self.queue = label(flavors[0])
        if len(flavors) > 1:
            self.queue = unused(label(tops[0].name), {label(it) for it in flavors})
        self.cohorts = {it.name: self._team(it.name) for it in self.members if not it.is_queue}

    def read(self) -> TeamTree:
        """The tree."""
        totals = {id(it): self._total(it) for it in self.members}
        own = {} if self.root is None else self._own(self.root)
        first = [it for it in self.members if it.above not in self.cohorts]
        branches = [self._branch(it, totals[id(it)]) for it in self.members if totals[id(it)]]
        views = [it.entry.fields for it in self.members if it.entry and it.is_queue]
        preempts = [_preempts(it) for it in views if isinstance(it, ClusterQueueView)]
        if not preempts and any(it.cells.kept for it in self.members):
            preempts = [False]
        return TeamTree(
            queue=self.queue,
            scheduler="kueue",
            pools=tuple(label(it) for it in self.flavors),
            root=self.root.entry.object if self.root and self.root.entry else None,
            root_name=self.root.name if self.root else "",
            branches=tuple(branches),
            available={
                label(it): _sum(
                    [own.get(it, {}), *(totals[id(node)].get(it, {}) for node in first)]
                )
                for it in self.flavors
            },
            preempts=any(preempts) if preempts else None,
        )

    def _team(self, name: str) -> str:
        """The team of a cohort or queue: its name, without the name of the pool after it."""
        return name.removesuffix(queue_name("", self.queue)) or name

    def _branch(self, node: _QueueNode, total: Quotas) -> TeamBranch:
        above = self.cohorts.get(node.above)
        team = self._team(node.name)
        own = node.is_queue and above is not None and team in {f"{above}.{OWN}", above}
        limit = _limits(total, node.cells.borrowing)
        if self.root is None and above is None:
            limit = total  # without a cohort, nothing can be borrowed
        return TeamBranch(
            object=node.entry.object if node.entry else None,
            kind="ClusterQueue" if node.is_queue else "Cohort",
            name=node.name,
            team=label(above if own and above else team),
            own=own,
            above=None if above is None else label(above),
            guarantee={label(it): vector for it, vector in total.items()},
            limit={label(it): vector for it, vector in limit.items()},
            weight=_weight(node),
            namespaces=_namespaces(node, self.cluster),
        )

    def _own(self, node: _QueueNode) -> Quotas:
        """The nominal quotas of a node itself in the flavors of the queue."""
        return {it: node.cells.nominal[it] for it in self.flavors if it in node.cells.nominal}

    def _total(self, node: _QueueNode) -> Quotas:
        """The nominal quotas of a node and of all below it."""
        parts = [self._own(it) for it in _with_all_below(node, self.below)]
        flavors = dict.fromkeys(flavor for part in parts for flavor in part)
        return {flavor: _sum([part.get(flavor, {}) for part in parts]) for flavor in flavors}


def _sum(vectors: Iterable[Vector]) -> dict[str, int]:
    found: dict[str, int] = {}
    for vector in vectors:
        for resource, count in vector.items():
            found[resource] = found.get(resource, 0) + count
    return found


def _limits(total: Quotas, borrowing: Quotas) -> Quotas:
    """What a node may use at most: its quotas and what it may borrow."""
    return {
        flavor: {name: vector[name] + most for name, most in borrowing.get(flavor, {}).items()}
        for flavor, vector in total.items()
    }


def _weight(node: _QueueNode) -> int:
    sharing = node.entry.fields.fair_sharing if node.entry else None
    weight = sharing.weight if sharing else 1
    return int(weight) if weight >= 1 and int(weight) == weight else 1


def _preempts(fields: ClusterQueueView) -> bool:
    preemption = fields.preemption
    return preemption is not None and (
        preemption.reclaim_within_cohort != "Never" or preemption.within_cluster_queue != "Never"
    )


def _namespaces(node: _QueueNode, cluster: Cluster) -> tuple[str, ...]:
    """The namespaces that a queue admits by their names, else those with a LocalQueue for it."""
    if node.entry is None or not isinstance(node.entry.fields, ClusterQueueView):
        return ()
    selector = node.entry.fields.namespace_selector
    return (selector and _named(selector)) or tuple(
        sorted({it.namespace for it in cluster.derive(local_queues).get(node.name, ())})
    )


def _named(selector: LabelSelector) -> tuple[str, ...]:
    if selector.match_labels.keys() == {NAMESPACE_NAME} and not selector.match_expressions:
        return (selector.match_labels[NAMESPACE_NAME],)
    if len(selector.match_expressions) != 1 or selector.match_labels:
        return ()
    (only,) = selector.match_expressions
    return only.values if (only.key, only.operator) == (NAMESPACE_NAME, "In") else ()
