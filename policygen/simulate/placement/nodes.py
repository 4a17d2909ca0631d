"""The nodes of a simulation: what pods hold, as columns of integers, and a log of changes.

Amounts are in the units of kube-scheduler: thousandths of a core, bytes, and whole numbers.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any, TypeVar

from msgspec.structs import replace

from policygen.kubernetes.node_groups import Node, NodeSet
from policygen.simulate.placement.shape import PodShape, counted

T = TypeVar("T")


class TopologyDomains:
    """A label of nodes."""

    def __init__(self, values: Sequence[str | None]) -> None:
        self.values = values
        """By node; None: the node does not have it."""
        known = [it for it in values if it is not None]
        self.unique = len(set(known)) == len(known)
        """Whether no two nodes have the same value, as with host names."""


class NodeTable:
    """All nodes, by their index. A group of equal nodes is split into its nodes."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self.all = tuple(
            it if it.count == 1 else replace(it, name=f"{it.name}-{i}", count=1)
            for it in nodes
            for i in range(it.count)
        )
        self.set = NodeSet(self.all)
        self.index = {it.name: i for i, it in enumerate(self.all)}
        self.pods: list[Counter[PodShape]] = [Counter() for _ in self.all]
        self.held: dict[PodShape, dict[int, int]] = {}
        """The number of pods by shape and node."""
        self.versions = [0] * len(self.all)
        """How often the pods of each node changed."""
        self.shapes: set[PodShape] = set()
        """All shapes that a pod here ever had."""
        self.with_terms: set[PodShape] = set()
        """Those with affinity or anti-affinity to pods."""
        self.changed: list[int] = []
        """The node of each change."""
        self.changes: list[tuple[PodShape, int]] = []
        """The pod of each change, and 1 for an arrival or -1 for an end."""
        self._allocatable: dict[str, list[int]] = {}
        self._free: dict[str, list[int]] = {}
        self._spare: dict[str, list[int]] = {}
        self.overcommitted = False
        """Whether pods ever held more of a resource than a node has."""
        self._derived: dict[object, list[int]] = {}
        self._topologies: dict[str, TopologyDomains] = {}
        self._lasting: dict[object, Any] = {}

    def allocatable(self, resource: str) -> list[int]:
        """The column of the allocatable amounts; 0 for a node that does not list the resource."""
        if resource not in self._allocatable:
            column = [
                counted(resource, it.allocatable.get(resource, Fraction(0))) for it in self.all
            ]
            self._allocatable[resource] = column
            self._free[resource], self._spare[resource] = [*column], [*column]
            for node, pods in enumerate(self.pods):
                for shape, count in pods.items():
                    self._free[resource][node] -= count * shape.amount(resource)
                    self._spare[resource][node] -= count * shape.scored_amount(resource)
            self.overcommitted |= min(self._free[resource], default=0) < 0
        return self._allocatable[resource]

    def free(self, resource: str) -> list[int]:
        """The column of what no pod requests; it is updated in place."""
        self.allocatable(resource)
        return self._free[resource]

    def spare(self, resource: str) -> list[int]:
        """The same, where a container that requests no cpu or memory counts with a default amount."""
        self.allocatable(resource)
        return self._spare[resource]

    def topology(self, key: str) -> TopologyDomains:
        """The values of a label."""
        if key not in self._topologies:
            self._topologies[key] = TopologyDomains([it.labels.get(key) for it in self.all])
        return self._topologies[key]

    def derived(self, key: object) -> list[int]:
        """A column for numbers that a caller derives from a node's amounts; -1 after each change."""
        if key not in self._derived:
            self._derived[key] = [-1] * len(self.all)
        return self._derived[key]

    def lasting(self, key: object, make: Callable[[], T]) -> T:
        """What a caller derives from nodes without their pods, made at its first use."""
        if key not in self._lasting:
            self._lasting[key] = make()
        found: T = self._lasting[key]
        return found

    def know(self, shape: PodShape) -> None:
        """Pods of this shape are, or may be, on nodes."""
        self.shapes.add(shape)
        if shape.terms:
            self.with_terms.add(shape)

    def add(self, node: int, shape: PodShape) -> None:
        """A pod is bound to a node."""
        self._change(node, shape, 1)

    def remove(self, node: int, shape: PodShape) -> None:
        """A pod of a node ends."""
        self._change(node, shape, -1)

    def forget(self) -> None:
        """Clear the log of changes."""
        self.changed.clear()
        self.changes.clear()

    def _change(self, node: int, shape: PodShape, count: int) -> None:
        for resource, amount in shape.requests:
            if resource in self._free:
                self._free[resource][node] -= count * amount
                if self._free[resource][node] < 0:
                    self.overcommitted = True
        for resource, amount in shape.scored:
            if resource in self._spare:
                self._spare[resource][node] -= count * amount
        for column in self._derived.values():
            column[node] = -1
        pods = self.pods[node]
        pods[shape] += count
        if not pods[shape]:
            del pods[shape]
        held = self.held.setdefault(shape, {})
        held[node] = held.get(node, 0) + count
        if not held[node]:
            del held[node]
            if not held:
                del self.held[shape]
        self.versions[node] += 1
        self.changed.append(node)
        self.changes.append((shape, count))
