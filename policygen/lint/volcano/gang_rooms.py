"""Whether some nodes hold the pods that a gang needs at once."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from math import ceil

from msgspec import Struct, field

from policygen.core.amounts import summed
from policygen.core.packing import Bins, PackedItem, packs
from policygen.kubernetes.node_groups import NodeSet, NodeSize
from policygen.kubernetes.node_index import Bits, NodeIndex
from policygen.kubernetes.untyped import mapping
from policygen.kubernetes.workloads import PodTemplate
from policygen.lint.core.known_nodes import node_index
from policygen.lint.core.node_rooms import room_on
from policygen.lint.core.pod_demands import PodDemand, demands_by_template
from policygen.lint.rule import Facts

_PODS, _ZERO = "pods", Fraction(0)


class GangPods(Struct, frozen=True, eq=False):
    """The pods that a gang needs at once."""

    counts: Mapping[PodDemand, int]
    """Pods that it needs in any case, of each template; empty: the pods are not known."""
    others: int
    """The number of further pods, of any template."""
    declared: Mapping[str, Fraction] = field(default_factory=dict)
    """The minResources of a PodGroup, which Volcano compares with the sum of the nodes."""

    @property
    def number(self) -> int:
        """The number of all these pods."""
        return sum(self.counts.values()) + self.others


def gang_pods(
    facts: Facts, templates: Sequence[PodTemplate], least: Sequence[int], needed: int
) -> GangPods | None:
    """The pods of a gang of `needed` pods with at least so many of each template; None: unknown.

    Constraints over topologies count pods outside of some nodes too, so their room is unknown.
    """
    known = facts.derive(demands_by_template)
    counts = {}
    total = sum(it.replicas or 0 for it in templates)
    if not 0 < needed <= total:
        return None
    for template, minimum in zip(templates, least, strict=True):
        if template.replicas is None:
            return None
        if not template.replicas:
            continue
        it, spec = known.get(id(template)), template.spec
        if it is None or len(it.ways) != 1 or spec.topology_spread_constraints:
            return None
        if mapping(spec.affinity, "podAffinity"):
            return None
        counts[it] = max(minimum, needed - (total - template.replicas), 0)
    return GangPods(counts, needed - sum(counts.values()))


class _SizesByIndex:
    """The sizes of nodes, with the nodes of each, by index. Listed nodes are single."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[NodeIndex, Sequence[tuple[NodeSize, Bits]]]] = {}

    def of(self, index: NodeIndex) -> Sequence[tuple[NodeSize, Bits]]:
        if id(index) not in self._known:
            found: dict[object, tuple[NodeSize, Bits]] = {}
            for bit, node in index.entries(index.all):
                amounts = node.allocatable.items()
                key = node.stated, *sorted((name, *it.as_integer_ratio()) for name, it in amounts)
                size, bits = found.get(key) or (NodeSize(node.allocatable, 1, node.stated), 0)
                found[key] = size, bits | bit
            self._known[id(index)] = index, [*found.values()]
        return self._known[id(index)][1]


def _sizes_by_index(_: Facts) -> _SizesByIndex:
    return _SizesByIndex()


class GangRoom:
    """The room for a gang on sets of nodes, by `node_index`. Nodes count as empty."""

    def __init__(self, facts: Facts, pods: GangPods) -> None:
        self._pods, self._counts = pods, pods.counts
        self._index = facts.derive(node_index).of(*(it.ways[0].demand for it in self._counts))
        self._takers = [self._index.takers(it.ways[0].demand) for it in self._counts]
        self._requests = [
            {**dict(it.ways[0].demand.requests), _PODS: Fraction(1)} for it in self._counts
        ]
        self._names = sorted({name for it in self._requests for name in it})
        self._sizes = facts.derive(_sizes_by_index).of(self._index)
        self._least, self._largest = self._further(min), self._further(max)

    @property
    def needs(self) -> Mapping[str, Fraction]:
        """What the gang needs at least of each resource, without the number of pods."""
        found = {name: self._total(name, self._least) for name in self._names if name != _PODS}
        for name, it in self._pods.declared.items():
            found[name] = max(it, found.get(name, it))
        return {name: it for name, it in found.items() if it}

    def sum_of(self, name: str, nodes: Bits) -> Fraction | None:
        """What these nodes have of a resource; None: unknown."""
        levels = self._index.levels(name)
        if levels.unknown & nodes:
            return None
        return summed(it.have * (it.nodes & nodes).bit_count() for it in levels.known)

    def most(self, nodes: Bits) -> int:
        """How many of the pods these nodes hold at most."""
        missing = taking = 0
        for it, takers, requests in zip(self._counts, self._takers, self._requests, strict=True):
            count, taking = self._counts[it], taking | takers
            room = self._held(requests, nodes & takers)
            if count and mapping(it.template.spec.affinity, "podAntiAffinity"):
                those = NodeSet(node for _, node in self._index.entries(nodes & takers))
                apart = room_on(it, NodeIndex(those), count)
                room = room if apart is None else apart.pods
            missing += max(count - room, 0)
        return min(self._pods.number - missing, self._held(self._least, nodes & taking))

    def _held(self, requests: Mapping[str, Fraction], nodes: Bits) -> int:
        """How many equal pods these nodes hold by their resources."""
        total = 0
        for size, equal in self._sizes:
            if number := (equal & nodes).bit_count():
                held = size.holds(requests.items())
                total += number * (self._pods.number if held is None else held)
        return total

    def holds(self, nodes: Bits) -> bool | None:
        """Whether these nodes hold the gang; None: unknown, because too many ways had to be tried."""
        for name, needed in self._pods.declared.items():
            have = self.sum_of(name, nodes)
            if have is not None and have < needed:
                return False
        if not self._counts:
            return True
        if self.most(nodes) < self._pods.number:
            return False
        bins = self._bins(nodes)
        if packs(self._items(self._least, any, bins), bins) is False:
            return False
        return packs(self._items(self._largest, all, bins), bins) or None

    def _further(self, choose: Callable[[Iterable[Fraction]], Fraction]) -> Mapping[str, Fraction]:
        """The least or largest requests of a pod of any template."""
        return {name: choose(it.get(name, _ZERO) for it in self._requests) for name in self._names}

    def _total(self, name: str, further: Mapping[str, Fraction]) -> Fraction:
        each = zip(self._requests, self._counts.values(), strict=True)
        own = sum((it.get(name, _ZERO) * count for it, count in each), _ZERO)
        return own + further[name] * self._pods.others

    def _bins(self, nodes: Bits) -> list[Bins]:
        """The nodes by the templates that they take, as their kind. Unknown amounts are enough for all pods."""
        enough = [self._total(name, self._largest) for name in self._names]
        found = []
        for size, equal in self._sizes:
            parts = [("", equal & nodes)]
            for takers in self._takers:
                parts = [
                    (f"{kind}{taken}", part)
                    for kind, each in parts
                    for taken, part in ((1, each & takers), (0, each & ~takers))
                    if part
                ]
            have = [size.amount(name) for name in self._names]
            amounts = tuple(
                _thousandths(most if it is None else it)
                for it, most in zip(have, enough, strict=True)
            )
            found += [Bins(kind, amounts, part.bit_count()) for kind, part in parts if part]
        return found

    def _items(
        self,
        further: Mapping[str, Fraction],
        take: Callable[[Iterable[bool]], bool],
        bins: Sequence[Bins],
    ) -> Mapping[PackedItem, int]:
        """The pods; nodes take a further one if they take `any` or `all` templates."""
        kinds = {it.kind for it in bins}
        found: Counter[PackedItem] = Counter()
        pods = [
            (requests, frozenset(kind for kind in kinds if kind[i] == "1"), count)
            for i, (requests, count) in enumerate(
                zip(self._requests, self._counts.values(), strict=True)
            )
        ]
        taking = frozenset(kind for kind in kinds if take(it == "1" for it in kind))
        for requests, taken_by, count in (*pods, (further, taking, self._pods.others)):
            amounts = tuple(_thousandths(requests.get(name, _ZERO)) for name in self._names)
            found[PackedItem(amounts, taken_by)] += count
        return found


def _thousandths(amount: Fraction) -> int:
    """The precision of Volcano."""
    return ceil(amount * 1000)
