"""The nodes that a flavor describes, and the flavors that describe the same nodes."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations

from msgspec import Struct

from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.core import NodeView, TaintView
from policygen.kubernetes.kueue import ResourceFlavorView
from policygen.kubernetes.node_filters import HARD
from policygen.kubernetes.table import Entry
from policygen.lint.kueue.quotas import every_quota, owners

Flavor = Entry[ResourceFlavorView]


def hard_taints(taints: tuple[TaintView, ...]) -> frozenset[tuple[str, str]]:
    """Key and value of the taints that keep pods away."""
    return frozenset((taint.key, taint.value) for taint in taints if taint.effect in HARD)


def needs_labels(flavor: ResourceFlavorView) -> bool:
    """Whether the API server refuses a flavor because it has a topology, but no labels."""
    return bool(flavor.topology_name) and not flavor.node_labels


_Size = frozenset[tuple[str, tuple[int, int]]]


class Nodes(Struct, frozen=True, eq=False):
    """The nodes that match the labels of a flavor."""

    nodes: tuple[Entry[NodeView], ...]
    sizes: tuple[Mapping[str, Fraction], ...]
    """Their distinct allocatable resources: pools have many nodes and few sizes."""
    total: Mapping[str, Fraction]
    """The sum of their allocatable resources."""


def nodes(cluster: Cluster) -> Mapping[str, Nodes]:
    """The nodes that match each flavor, by the flavor's name; use it with `cluster.derive`.

    Flavors with the same labels share one result. A flavor without labels matches all nodes.
    """
    keys = {key for flavor in cluster.flavors for key in flavor.fields.node_labels}
    by_label: dict[tuple[str, str], list[Entry[NodeView]]] = {}
    for node in cluster.nodes:
        node_labels = node.labels
        for key in keys & node_labels.keys():
            by_label.setdefault((key, node_labels[key]), []).append(node)
    known: dict[frozenset[tuple[str, str]], Nodes] = {}
    found = {}
    for flavor in cluster.flavors:
        labels = frozenset(flavor.fields.node_labels.items())
        if labels not in known:
            candidates: Sequence[Entry[NodeView]] = cluster.nodes
            if labels:
                candidates = min((by_label.get(label, []) for label in labels), key=len)
            known[labels] = _nodes(node for node in candidates if labels <= node.labels.items())
        found[flavor.name] = known[labels]
    return found


def _nodes(nodes: Iterable[Entry[NodeView]]) -> Nodes:
    found = tuple(nodes)
    sizes: dict[_Size, Mapping[str, Fraction]] = {}
    counts: Counter[_Size] = Counter()
    for node in found:
        allocatable = node.fields.status.allocatable
        # Hashing a Fraction is slower than hashing its two integers.
        size = frozenset((name, value.as_integer_ratio()) for name, value in allocatable.items())
        sizes.setdefault(size, allocatable)
        counts[size] += 1
    total: dict[str, Fraction] = {}
    for size, count in counts.items():
        for name, amount in sizes[size].items():
            total[name] = total.get(name, Fraction(0)) + count * amount
    return Nodes(found, tuple(sizes.values()), total)


class Overlap(Struct, frozen=True, eq=False):
    """Two flavors that describe the same nodes, at least in part."""

    one: Flavor
    other: Flavor
    """The more specific one, if their labels differ."""
    resource: str
    """A resource for which both have quota."""
    equal: bool
    misplaced: tuple[Flavor, str] | None = None
    """The flavor with a taint that only nodes with other labels have, and the key of the taint."""


def overlaps(cluster: Cluster) -> tuple[Overlap, ...]:
    """Pairs of labelled flavors of which one has all labels of the other.

    Use it with `cluster.derive`. Of several flavors with the same labels, each is paired with the
    first by name. Flavors with different taints describe different nodes, except for a taint that only
    nodes with other labels than those of the flavor have.
    """
    return tuple(_overlaps(cluster))


def _overlaps(cluster: Cluster) -> Iterator[Overlap]:
    used: dict[str, set[str]] = {}
    for placed in every_quota(owners(cluster)):
        used.setdefault(placed.flavor, set()).add(placed.resource)
    by_labels: dict[object, list[Flavor]] = {}
    for flavor in sorted(cluster.flavors, key=lambda flavor: flavor.name):
        if flavor.fields.node_labels and flavor.name in used:
            by_labels.setdefault(_key(cluster, flavor, flavor.fields.node_labels), []).append(
                flavor
            )
    for flavor in cluster.flavors:
        labels = flavor.fields.node_labels
        if flavor.name not in used:
            continue
        for part in _parts(labels):
            for other in by_labels.get(_key(cluster, flavor, part), ()):
                equal = len(part) == len(labels)
                common = used[flavor.name] & used[other.name]
                if common and other is not flavor and (not equal or other.name < flavor.name):
                    wrong = [
                        (one, key)
                        for one in (flavor, other)
                        for key, _ in sorted(_misplaced(cluster, one))
                    ]
                    resource = min(common, key=_last)
                    yield Overlap(other, flavor, resource, equal, wrong[0] if wrong else None)
                    break


def _parts(labels: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """All non-empty subsets of labels; a flavor has at most eight labels."""
    items = list(labels.items())[:8]
    for size in range(1, len(items) + 1):
        for part in combinations(items, size):
            yield dict(part)


def _key(cluster: Cluster, flavor: Flavor, labels: Mapping[str, str]) -> object:
    """Equal for two flavors with these labels and the same hard taints."""
    taints = hard_taints(flavor.fields.node_taints) - _misplaced(cluster, flavor)
    return frozenset(labels.items()), taints


def _misplaced(cluster: Cluster, flavor: Flavor) -> frozenset[tuple[str, str]]:
    """The taints of a flavor that nodes have, but none with the labels of the flavor."""
    taints = hard_taints(flavor.fields.node_taints)
    if not taints or not cluster.nodes.any:
        return frozenset()
    every, by_flavor = cluster.derive(_taints)
    own = by_flavor[flavor.name]
    return taints & every - own if own is not None else frozenset()


def _taints(
    cluster: Cluster,
) -> tuple[frozenset[tuple[str, str]], Mapping[str, frozenset[tuple[str, str]] | None]]:
    """The hard taints of all nodes, and of those of each flavor; None: it has no node. For `cluster.derive`."""
    own = {it.name: hard_taints(it.fields.spec.taints) for it in cluster.nodes}
    every = frozenset(it for taints in own.values() for it in taints)
    return every, {
        name: frozenset(taint for it in found.nodes for taint in own[it.name])
        if found.nodes
        else None
        for name, found in cluster.derive(nodes).items()
    }


def _last(resource: str) -> tuple[bool, str]:
    """Sort key: extended resources first, because they name the hardware."""
    return "/" not in resource, resource
