"""Nodes as kube-scheduler's filters see them, and groups of nodes that are equal for a filter."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from enum import Enum
from fractions import Fraction
from functools import cached_property, lru_cache

from msgspec import Struct, field

from policygen.core.finding import At
from policygen.core.names import HOSTNAME, NODE_NAME
from policygen.core.suggest import is_slip
from policygen.kubernetes.core import TaintView

NATIVE = ("cpu", "ephemeral-storage", "memory", "pods")
"""Resources of Kubernetes itself, without hugepages. Every node has them, whether or not it lists them."""
HOST_PORT = "host port "
"""The begin of the names of host ports, which count as resources: each node has each port once."""
_ZONE = "topology.kubernetes.io/zone"
USUAL_LABELS = (
    HOSTNAME,
    "kubernetes.io/arch",
    "kubernetes.io/os",
    "node.kubernetes.io/instance-type",
    "topology.kubernetes.io/region",
    _ZONE,
)
"""Labels that kubelets and cloud providers set. Source: the page of Kubernetes on well-known labels."""
_DOMAINS = ("kubernetes.io", "node.kubernetes.io", "topology.kubernetes.io")
"""The domains of these labels."""
_NAMES = {it.rpartition("/")[2]: it for it in USUAL_LABELS} | {
    name: label
    for label, names in {
        HOSTNAME: ("host", "host-name", "node", "node-name", "nodename"),
        _ZONE: ("availability-zone", "az"),
    }.items()
    for name in names
}
"""These labels by their name, and by other names that people write in the same domains."""
REPLACED_LABELS = {
    "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone": _ZONE,
}
"""Former names of these labels, which only some cloud providers still set beside them."""
_NONE = Fraction(0)
_KUBERNETES = "kubernetes.io"
"""The domain of the labels that kubelets and cloud providers set."""
_TOPOLOGY = "topology.kubernetes.io"
"""A domain of which they set only the region and the zone."""


class Stated(Enum):
    """What is known of a node. An unknown label or amount never keeps a pod away.

    Native resources that a node does not list are unknown, because every kubelet lists them.
    """

    ALL = "all"
    """A server returned the node, with all its labels."""
    WRITTEN = "written"
    """A manifest of the node, to which its kubelet adds labels of Kubernetes."""
    PART = "part"
    """A pool of a spec: only what it lists is known."""


class Node(Struct, frozen=True, eq=False):
    """A node, or a number of equal nodes."""

    name: str
    """Of the node, or of its pool."""
    labels: Mapping[str, str]
    taints: tuple[TaintView, ...] = ()
    allocatable: Mapping[str, Fraction] = field(default_factory=dict)
    unschedulable: bool = False
    """Whether it is cordoned."""
    count: int = 1
    stated: Stated = Stated.ALL
    at: At | None = None
    """Its place; None: a spec implies it."""
    together: Mapping[str, Fraction] = field(default_factory=dict)
    """Amounts that all its nodes have together, where the amount of one node is only the largest possible."""
    daemons: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By resource, the DaemonSets whose pods use a part of it: `allocatable` is what they leave."""


class NodeSize(Struct, frozen=True, eq=False):
    """The allocatable resources of a number of nodes."""

    allocatable: Mapping[str, Fraction]
    count: int
    stated: Stated

    def amount(self, resource: str) -> Fraction | None:
        """The amount of a resource; None: unknown."""
        found = self.allocatable.get(resource)
        if found is not None:
            return found
        if resource.startswith(HOST_PORT):
            return Fraction(1)
        known = self.stated is not Stated.PART and self.allocatable and resource not in NATIVE
        return _NONE if known else None

    def holds(self, requests: Iterable[tuple[str, Fraction]]) -> int | None:
        """How many pods with these requests one empty node has room for; None: no request is bounded."""
        bounds = [
            have // amount
            for name, amount in requests
            if amount > 0 and (have := self.amount(name)) is not None
        ]
        if (pods := self.amount("pods")) is not None:
            bounds.append(int(pods))
        return min(bounds, default=None)


class NodeGroup(Struct, frozen=True, eq=False, dict=True):
    """Nodes with equal taints, and equal labels of some keys."""

    labels: Mapping[str, str]
    """Their values of these keys. The key `metadata.name` is the name, which only a listed node has."""
    taints: tuple[TaintView, ...]
    unschedulable: bool
    stated: Stated
    nodes: tuple[Node, ...]
    sizes: tuple[NodeSize, ...]
    bits: int
    """Its nodes, as a set of `node_index`."""

    @cached_property
    def count(self) -> int:
        """The number of nodes."""
        return sum(size.count for size in self.sizes)

    @cached_property
    def largest(self) -> tuple[NodeSize, ...]:
        """The sizes that no other size exceeds or equals in every resource."""
        kept: list[NodeSize] = []
        for size in sorted(self.sizes, key=_ordered, reverse=True):
            if not any(_covers(other, size) for other in kept):
                kept.append(size)
        return tuple(kept)

    @cached_property
    def least(self) -> NodeSize:
        """The least amount of each resource that its nodes have."""
        found = dict(self.sizes[0].allocatable)
        for size in self.sizes[1:]:
            shared = found.keys() & size.allocatable.keys()
            found = {name: min(found[name], size.allocatable[name]) for name in shared}
        return NodeSize(found, self.count, self.stated)

    @cached_property
    def by_size(self) -> tuple[tuple[NodeSize, frozenset[int]], ...]:
        """The ids of its nodes by their size."""
        found: dict[_SizeKey, list[Node]] = {}
        for node in self.nodes:
            found.setdefault(_SizeKey(node.allocatable), []).append(node)
        return tuple(
            (
                NodeSize(key.amounts, sum(node.count for node in nodes), self.stated),
                frozenset(map(id, nodes)),
            )
            for key, nodes in found.items()
        )

    @cached_property
    def _domains(self) -> dict[str, Counter[str | None]]:
        return {}

    def domains(self, key: str) -> Counter[str | None]:
        """The number of its nodes by the value of a label; None for nodes without it."""
        found = self._domains.get(key)
        if found is None:
            found = Counter()
            for node in self.nodes:
                found[node.labels.get(key)] += node.count
            self._domains[key] = found
        return found

    def knows(self, key: str) -> bool:
        """Whether a label that the nodes do not list is known to be missing."""
        return knows_label(self.nodes[0], key)


def label(node: Node, key: str) -> str | None:
    """The value of a label, or of NODE_NAME; None: the node does not list it.

    The nodes that a pool of a spec stands for have names that the spec does not know.
    """
    if key == NODE_NAME:
        return None if node.stated is Stated.PART else node.name
    return node.labels.get(key)


def knows_label(node: Node, key: str) -> bool:
    """Whether a label that a node does not list is known to be missing."""
    if node.stated is Stated.ALL:
        return True
    if _is_usual_misspelt(key):
        return True
    if node.stated is Stated.PART:
        return bool(meant_label(key, node.labels))
    domain = key.partition("/")[0]
    if domain == _TOPOLOGY:
        # Cloud providers set the region and the zone together.
        return key not in USUAL_LABELS or any(it.startswith(f"{_TOPOLOGY}/") for it in node.labels)
    return not (domain == _KUBERNETES or domain.endswith(f".{_KUBERNETES}"))


@lru_cache(maxsize=1 << 10)
def _is_usual_misspelt(key: str) -> bool:
    """Whether a key is certainly a misspelling of a label that kubelets and cloud providers set."""
    return bool(meant_label(key, USUAL_LABELS))


def meant_label(key: str, known: Collection[str]) -> str:
    """The known key of which a key is certainly a misspelling; empty: it is known itself, or means another.

    The domain or the name is misspelled, not both: long domains make different keys similar. The labels
    that kubelets and cloud providers set are also found if another of their domains is written.
    """
    if key in known:
        return ""
    domain, _, name = key.lower().rpartition("/")
    if domain in _DOMAINS and _NAMES.get(name) in known:
        return _NAMES[name]
    for it in known:
        of, _, meant = it.rpartition("/")
        if of.lower() == domain and is_slip(name, meant):
            return it
        if domain and of and name == meant.lower() and is_slip(domain, of):
            return it
    return ""


class NodeSet:
    """All known nodes, with their groups by the labels that a filter reads."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self.all = tuple(nodes)
        self._sizes = [_SizeKey(it.allocatable) for it in self.all]
        self._groups: dict[frozenset[str], tuple[NodeGroup, ...]] = {}

    def groups(self, keys: frozenset[str]) -> tuple[NodeGroup, ...]:
        """The nodes by their taints and their labels of these keys, in the order of the input."""
        if keys not in self._groups:
            self._groups[keys] = self._made(sorted(keys))
        return self._groups[keys]

    def _made(self, keys: list[str]) -> tuple[NodeGroup, ...]:
        found: dict[object, list[int]] = {}
        for index, node in enumerate(self.all):
            values = tuple(label(node, key) for key in keys)
            group = values, node.taints, node.unschedulable, node.stated
            found.setdefault(group, []).append(index)
        return tuple(self._group(keys, indexes) for indexes in found.values())

    def _group(self, keys: list[str], indexes: list[int]) -> NodeGroup:
        nodes = tuple(self.all[index] for index in indexes)
        first = nodes[0]
        counts: dict[_SizeKey, int] = {}
        for index, node in zip(indexes, nodes, strict=True):
            counts[self._sizes[index]] = counts.get(self._sizes[index], 0) + node.count
        labels = {key: value for key in keys if (value := label(first, key)) is not None}
        sizes = tuple(NodeSize(it.amounts, count, first.stated) for it, count in counts.items())
        bits = sum(1 << index for index in indexes)
        return NodeGroup(
            labels, first.taints, first.unschedulable, first.stated, nodes, sizes, bits
        )


class _SizeKey:
    """Amounts as a key. Hashing a Fraction is slower than hashing its two integers."""

    __slots__ = ("_hash", "_key", "amounts")

    def __init__(self, amounts: Mapping[str, Fraction]) -> None:
        self.amounts = amounts
        self._key = frozenset((name, it.as_integer_ratio()) for name, it in amounts.items())
        self._hash = hash(self._key)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _SizeKey) and self._key == other._key


def _ordered(size: NodeSize) -> tuple[int, Fraction]:
    """A sort key by which a size comes after every size that it exceeds."""
    return len(size.allocatable), sum(size.allocatable.values(), _NONE)


def _covers(large: NodeSize, small: NodeSize) -> bool:
    """Whether a size certainly has as much of every resource; an amount that is not listed can be unknown."""
    has = large.allocatable
    return all(small.amount(name) is not None for name in has) and all(
        name in has and has[name] >= amount for name, amount in small.allocatable.items()
    )
