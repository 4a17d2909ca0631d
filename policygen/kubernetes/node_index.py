"""Which nodes take a pod, by indexes of their labels, taints and amounts instead of a look at each node.

A set of nodes is an integer with a bit for each. The answers are those of `node_filters.misses`.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from math import ceil, lcm
from typing import TypeVar

from msgspec import Struct

from policygen.core.names import HOSTNAME, NODE_NAME
from policygen.core.tolerations import tolerates
from policygen.kubernetes.core import Requirement, TaintView, TolerationView
from policygen.kubernetes.node_filters import CORDON, EXECUTE, HARD, Demand, Term
from policygen.kubernetes.node_groups import Node, NodeSet, NodeSize, knows_label, label

Bits = int
"""A set of nodes."""
T = TypeVar("T")


class Level(Struct, frozen=True, eq=False):
    """Entries of nodes with equal amounts of a resource."""

    nodes: Bits
    most: Fraction | None
    """The amount of one node, or the largest possible; None: unknown."""
    have: Fraction
    """The amount of one node, or of all nodes of an entry together."""
    number: int
    """How often each entry has `have`."""
    count: int
    """The number of nodes of each entry."""


class Levels(Struct, frozen=True, eq=False):
    """All nodes by their amounts of a resource."""

    known: tuple[Level, ...]
    unknown: Bits


class NodeIndex:
    """The indexes of nodes; each is made when a pod first reads it."""

    def __init__(
        self, nodes: NodeSet, evicting: "NodeIndex | None" = None, least_evicted: int = 0
    ) -> None:
        """`evicting`: the same nodes for pods of a higher priority than `least_evicted`, with more room."""
        self.nodes = nodes
        self._evicting, self._least_evicted = evicting, least_evicted
        self.all: Bits = (1 << len(nodes.all)) - 1
        self._cordoned: Bits = 0
        self._taints: dict[TaintView, Bits] = {}
        for bit, node in self.entries(self.all):
            self._cordoned |= bit * node.unschedulable
            for taint in node.taints:
                if taint.effect in HARD:
                    self._taints[taint] = self._taints.get(taint, 0) | bit
        self._tolerated: dict[tuple[tuple[TolerationView, ...], tuple[str, ...]], Bits] = {}
        self._labels: dict[str, _Label] = {}
        self._enough: dict[str, _Enough] = {}
        self._levels: dict[str, Levels] = {}

    def of(self, *demands: Demand) -> "NodeIndex":
        """The indexes with the room for pods, which are those for the pod of the highest priority."""
        evicting = self._evicting
        if evicting is None or all(it.priority <= self._least_evicted for it in demands):
            return self
        return evicting

    def entries(self, nodes: Bits) -> Iterator[tuple[Bits, Node]]:
        """The nodes of a set, each with its bit."""
        while nodes:
            bit = nodes & -nodes
            nodes ^= bit
            yield bit, self.nodes.all[bit.bit_length() - 1]

    def takers(self, it: Demand) -> Bits:
        """The nodes that take a pod, or may take it, if they are empty."""
        if (index := self.of(it)) is not self:
            return index.takers(it)
        found = self.selected(it) & self.tolerated(it)
        if it.node_name:
            found &= self._matching(Requirement(NODE_NAME, "In", (it.node_name,)))
        elif self._cordoned and not any(tolerates(each, CORDON) for each in it.tolerations):
            found &= ~self._cordoned
        for volume in it.volumes:
            found = self._either(volume.terms, found)
        for domain in it.domains if not it.node_name else ():
            found &= ~self._label(domain.key).missing
        for name, requested in (("pods", Fraction(1)), *it.requests):
            if found:
                found &= self.at_least(name, requested)
        return found

    def certain(self, it: Demand) -> Bits:
        """The nodes for which it is known whether they have each label that a pod reads."""
        found = self.all
        for key in it.keys:
            found &= ~self._label(key).unknown
        return found

    def domain(self, nodes: Bits, key: str) -> Bits:
        """The nodes that certainly have a value of a label that one of some nodes has."""
        if key == HOSTNAME:
            return nodes
        found = 0
        for equal in self._label(key).values.values():
            if equal & nodes:
                found |= equal
        return found

    def values(self, key: str) -> Mapping[str, Bits]:
        """The nodes by their value of a label."""
        return self._label(key).values

    def unknown(self, key: str) -> Bits:
        """The nodes that may have a label with any value."""
        return self._label(key).unknown

    def selected(self, it: Demand) -> Bits:
        """The nodes that the node selector and the node affinity select, or may select."""
        found = self.all
        for placed in it.selector:
            found &= self._matching(placed.requirement)
        return found if it.terms is None else self._either(it.terms, found)

    def _either(self, terms: Iterable[Term], found: Bits) -> Bits:
        """Those of the nodes that one of the terms matches, or may match."""
        either = 0
        for term in terms:
            both = found if term.requirements else 0
            for placed in term.requirements:
                both &= self._matching(placed.requirement)
            either |= both
        return either

    def tolerated(self, it: Demand) -> Bits:
        """The nodes of which the pod tolerates all hard taints; the kubelet of a named node looks at NoExecute."""
        effects = (EXECUTE,) if it.node_name else HARD
        found = self._tolerated.get((it.tolerations, effects))
        if found is None:
            found = self.all
            for taint, nodes in self._taints.items():
                if taint.effect in effects and not any(
                    tolerates(each, taint) for each in it.tolerations
                ):
                    found &= ~nodes
            self._tolerated[it.tolerations, effects] = found
        return found

    def at_least(self, resource: str, requested: Fraction) -> Bits:
        """The nodes that do not certainly have less of a resource."""
        return _kept(self._enough, resource, lambda name: _Enough(name, self)).nodes(requested)

    def has_room(self, it: Demand, takers: Bits, enough: int) -> bool:
        """Whether the nodes certainly have room for `enough` equal pods, by their resources alone."""
        pods = 0
        for _, node in self.entries(takers):
            held = NodeSize(node.allocatable, 1, node.stated).holds(it.requests)
            if held is None or node.together:
                return False
            pods += held * node.count
            if pods >= enough:
                return True
        return False

    def levels(self, resource: str) -> Levels:
        """The nodes by their amounts of a resource."""
        return _kept(self._levels, resource, self._made_levels)

    def _made_levels(self, resource: str) -> Levels:
        unknown = 0
        found: dict[tuple[object, ...], tuple[Level, list[Bits]]] = {}
        for bit, node in self.entries(self.all):
            most = amount(node, resource)
            have, number = node.together.get(resource), 1
            if have is None:
                have, number = most, node.count
            if have is None:
                unknown |= bit
                continue
            key = (most and most.as_integer_ratio(), have.as_integer_ratio(), number, node.count)
            level = Level(0, most, have, number, node.count)
            found.setdefault(key, (level, []))[1].append(bit)
        known = (
            Level(sum(bits), it.most, it.have, it.number, it.count) for it, bits in found.values()
        )
        return Levels(tuple(known), unknown)

    def _matching(self, requirement: Requirement) -> Bits:
        return self._label(requirement.key).matching(requirement)

    def _label(self, key: str) -> "_Label":
        return _kept(self._labels, key, lambda key: _Label(key, self))


class _Label:
    """The nodes by the value of a label, or by their names."""

    def __init__(self, key: str, index: NodeIndex) -> None:
        self.values: dict[str, Bits] = {}
        self.missing: Bits = 0
        """The nodes that certainly do not have it."""
        self.unknown: Bits = 0
        """The nodes that may have it, with any value."""
        for bit, node in index.entries(index.all):
            value = label(node, key)
            if value is not None:
                self.values[value] = self.values.get(value, 0) | bit
            elif knows_label(node, key):
                self.missing |= bit
            else:
                self.unknown |= bit
        self._all = index.all

    def matching(self, it: Requirement) -> Bits:
        """The nodes for which a requirement holds, or may hold."""
        if it.operator in ("In", "NotIn"):
            found = 0
            for value in it.values:
                found |= self.values.get(value, 0)
            return self._all & ~found if it.operator == "NotIn" else found | self.unknown
        found = self.unknown
        for value, nodes in self.values.items():
            if it.holds({it.key: value}):
                found |= nodes
        return found | self.missing if it.holds({}) else found


class _Enough:
    """The nodes that have, or may have, an amount of a resource."""

    def __init__(self, resource: str, index: NodeIndex) -> None:
        unknown: Bits = 0
        amounts: dict[tuple[int, int], Bits] = {}
        for bit, node in index.entries(index.all):
            have = amount(node, resource)
            if have is None:
                unknown |= bit
            else:
                ratio = have.as_integer_ratio()
                amounts[ratio] = amounts.get(ratio, 0) | bit
        self._scale = lcm(*(low for _, low in amounts))
        scaled = sorted((high * (self._scale // low), it) for (high, low), it in amounts.items())
        self._least = [least for least, _ in scaled]
        self._nodes = [unknown] * (len(scaled) + 1)
        for i in reversed(range(len(scaled))):
            self._nodes[i] = self._nodes[i + 1] | scaled[i][1]

    def nodes(self, requested: Fraction) -> Bits:
        """The nodes that do not certainly have less."""
        return self._nodes[bisect_left(self._least, ceil(requested * self._scale))]


def amount(node: Node, resource: str) -> Fraction | None:
    """The amount of a resource of one node; None: unknown."""
    return NodeSize(node.allocatable, 1, node.stated).amount(resource)


def _kept(kept: dict[str, T], key: str, make: Callable[[str], T]) -> T:
    found = kept.get(key)
    if found is None:
        found = kept[key] = make(key)
    return found
