"""Which nodes a flavor means, and which flavors mean the same nodes."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations

from msgspec import Struct

from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.core import Node, Taint
from policygen.kubernetes.kueue import ResourceFlavor
from policygen.kubernetes.table import Entry
from policygen.lint.kueue.quotas import owners_alike, quotas

Flavor = Entry[ResourceFlavor]

HARD = ("NoSchedule", "NoExecute")
"""Effects of taints that keep pods away."""


def hard_taints(taints: tuple[Taint, ...]) -> frozenset[tuple[str, str]]:
    """Key and value of the taints that keep pods away."""
    return frozenset((it.key, it.value) for it in taints if it.effect in HARD)


_Size = frozenset[tuple[str, tuple[int, int]]]


class Nodes(Struct, frozen=True, eq=False):
    """The nodes that have some labels."""

    nodes: tuple[Entry[Node], ...]
    sizes: tuple[Mapping[str, Fraction], ...]
    """What they can allocate, each size once: pools have many nodes and few sizes."""
    total: Mapping[str, Fraction]
    """What they can allocate together."""


def nodes(cluster: Cluster) -> Mapping[str, Nodes]:
    """The nodes that have a flavor's labels, by flavor; use it with `cluster.derive`.

    Flavors of the same labels share one answer: without labels each means all nodes.
    """
    asked = {key for flavor in cluster.flavors for key in flavor.it.node_labels}
    by_label: dict[tuple[str, str], list[Entry[Node]]] = {}
    for node in cluster.nodes:
        has = node.labels
        for key in asked & has.keys():
            by_label.setdefault((key, has[key]), []).append(node)
    known: dict[frozenset[tuple[str, str]], Nodes] = {}
    found = {}
    for flavor in cluster.flavors:
        labels = frozenset(flavor.it.node_labels.items())
        if labels not in known:
            candidates: Sequence[Entry[Node]] = cluster.nodes
            if labels:
                candidates = min((by_label.get(label, []) for label in labels), key=len)
            known[labels] = _nodes(node for node in candidates if labels <= node.labels.items())
        found[flavor.name] = known[labels]
    return found


def _nodes(them: Iterable[Entry[Node]]) -> Nodes:
    found = tuple(them)
    sizes: dict[_Size, Mapping[str, Fraction]] = {}
    counts: Counter[_Size] = Counter()
    for node in found:
        allocatable = node.it.status.allocatable
        # By its integers: to hash a fraction takes longer than all else here.
        size = frozenset((name, it.as_integer_ratio()) for name, it in allocatable.items())
        sizes.setdefault(size, allocatable)
        counts[size] += 1
    total: dict[str, Fraction] = {}
    for size, count in counts.items():
        for name, amount in sizes[size].items():
            total[name] = total.get(name, Fraction(0)) + count * amount
    return Nodes(found, tuple(sizes.values()), total)


class Overlap(Struct, frozen=True, eq=False):
    """Two flavors for nodes that are the same, at least in part."""

    one: Flavor
    other: Flavor
    """The narrower one, if they are not equal."""
    resource: str
    """One that both have quota for."""
    equal: bool


def overlaps(cluster: Cluster) -> tuple[Overlap, ...]:
    """Labelled flavors of which one's nodes are all the other's; use it with `cluster.derive`.

    Of several with the same labels each is told beside the first by name.
    Flavors of different taints are for different nodes, since a node's taints are its own.
    """
    return tuple(_overlaps(cluster))


def _overlaps(cluster: Cluster) -> Iterator[Overlap]:
    used: dict[str, set[str]] = {}
    for alike in cluster.derive(owners_alike):
        for placed in quotas(alike.owners[0]):
            used.setdefault(placed.flavor, set()).add(placed.resource)
    by_labels: dict[object, list[Flavor]] = {}
    for flavor in sorted(cluster.flavors, key=lambda it: it.name):
        if flavor.it.node_labels and flavor.name in used:
            by_labels.setdefault(_key(flavor, flavor.it.node_labels), []).append(flavor)
    for flavor in cluster.flavors:
        labels = flavor.it.node_labels
        if flavor.name not in used:
            continue
        for part in _parts(labels):
            for other in by_labels.get(_key(flavor, part), ()):
                equal = len(part) == len(labels)
                common = used[flavor.name] & used[other.name]
                if common and other is not flavor and (not equal or other.name < flavor.name):
                    yield Overlap(other, flavor, min(common, key=_last), equal)
                    break


def _parts(labels: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """All parts of at least one label; a flavor has at most eight."""
    items = list(labels.items())[:8]
    for size in range(1, len(items) + 1):
        for part in combinations(items, size):
            yield dict(part)


def _key(flavor: Flavor, labels: Mapping[str, str]) -> object:
    return frozenset(labels.items()), hard_taints(flavor.it.node_taints)


def _last(resource: str) -> tuple[bool, str]:
    """Extended resources first: they say most."""
    return "/" not in resource, resource
