"""The filters that depend on other pods: PodTopologySpread and InterPodAffinity.

Each refuses classes of nodes: nodes with equal keys are refused alike. Source:
pkg/scheduler/framework/plugins/{podtopologyspread,interpodaffinity}/filtering.go of Kubernetes 1.36.3.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from msgspec.structs import replace

from policygen.simulate.placement.common_scores import Classes, counts_in_domain, selects
from policygen.simulate.placement.nodes import Nodes
from policygen.simulate.placement.profile import Profile
from policygen.simulate.placement.shape import Constraint, Kind, PodShape


class PodFilter(Classes, Protocol):
    """The filter of one plugin, for one shape."""

    def refused(self, keys: Sequence[Any]) -> list[bool]:
        """Whether the nodes of each class take no pod now."""
        ...


def pod_filters(nodes: Nodes, shape: PodShape, profile: Profile) -> tuple[PodFilter, ...]:
    """The filters that can refuse a node, up to date with the pods of the nodes."""
    found: list[PodFilter] = []
    constraints = hard_constraints(shape, profile)
    if constraints:
        found.append(Skew(nodes, shape, constraints))
    required = any(it.kind is not Kind.PREFERRED for it in shape.terms)
    if required or any(it.kind is Kind.APART for pod in nodes.shapes for it in pod.terms):
        found.append(Required(nodes, shape))
    for each in found:
        for node, pods in enumerate(nodes.pods):
            for pod, count in pods.items():
                each.follow(node, pod, count)
    return tuple(found)


def hard_constraints(shape: PodShape, profile: Profile) -> tuple[Constraint, ...]:
    """The constraints that refuse nodes: those of the pod, or the default ones with its selector."""
    if shape.constraints:
        return tuple(it for it in shape.constraints if not it.soft)
    selector = shape.default_selector
    if selector is None or selector.empty:
        return ()
    return tuple(replace(it, selector=selector) for it in profile.constraints if not it.soft)


class _Topology:
    """A label of nodes. If each node has a value of its own, its class has a state instead of the value."""

    def __init__(self, nodes: Nodes, key: str) -> None:
        self.values = [it.labels.get(key) for it in nodes.all]
        known = [it for it in self.values if it is not None]
        self.unique = len(set(known)) == len(known)


class Skew:
    """Constraints with DoNotSchedule: the pods of a domain exceed the least number by no more than maxSkew."""

    def __init__(self, nodes: Nodes, shape: PodShape, constraints: Sequence[Constraint]) -> None:
        self._constraints = constraints
        self._namespace = shape.namespace
        self._own = [
            it.selector is not None and it.selector.selects(shape.labels) for it in constraints
        ]
        self._topologies = [_Topology(nodes, it.key) for it in constraints]
        self._counted = []
        for it, topology in zip(constraints, self._topologies, strict=True):
            included = counts_in_domain(nodes, shape.demand, it)
            self._counted.append(
                [
                    topology.values[node] if on and self._has_all(node) else None
                    for node, on in enumerate(included)
                ]
            )
        self._pods = [
            Counter({it: 0 for it in values if it is not None}) for values in self._counted
        ]
        """The pods that the constraint selects, by the value of its label."""
        self._numbers = [Counter(it.values()) for it in self._pods]
        """How many domains have each number of pods."""

    def _has_all(self, node: int) -> bool:
        return all(it.values[node] is not None for it in self._topologies)

    def key(self, node: int) -> tuple[str | int | None, ...]:
        """For each constraint the value of its label, or how many pods count on the node."""
        return tuple(
            self._pods[i][value] if topology.unique and value is not None else value
            for i, topology in enumerate(self._topologies)
            for value in (topology.values[node],)
        )

    def follow(self, node: int, pod: PodShape, count: int) -> None:
        """Count the pods that the constraints select."""
        if pod.namespace != self._namespace:
            return
        for i, it in enumerate(self._constraints):
            value = self._counted[i][node]
            if value is not None and selects(it.selector, pod):
                numbers, before = self._numbers[i], self._pods[i][value]
                self._pods[i][value] = before + count
                numbers[before] -= 1
                if not numbers[before]:
                    del numbers[before]
                numbers[before + count] += 1

    def refused(self, keys: Sequence[tuple[str | int | None, ...]]) -> list[bool]:
        """Whether one pod more exceeds the skew, or a label is missing."""
        least = [
            min(numbers) if len(pods) >= it.min_domains and numbers else 0
            for it, numbers, pods in zip(self._constraints, self._numbers, self._pods, strict=True)
        ]
        return [
            any(self._exceeds(i, value, least[i]) for i, value in enumerate(key)) for key in keys
        ]

    def _exceeds(self, i: int, value: str | int | None, least: int) -> bool:
        if value is None:
            return True
        pods = value if isinstance(value, int) else self._pods[i].get(value, 0)
        return pods + self._own[i] - least > self._constraints[i].max_skew


class Required:
    """Required pod affinity and anti-affinity of the pod, and required anti-affinity of the pods that run."""

    def __init__(self, nodes: Nodes, shape: PodShape) -> None:
        self._shape = shape
        self._nodes = nodes.all
        self._together = tuple(it for it in shape.terms if it.kind is Kind.TOGETHER)
        self._apart = tuple(it for it in shape.terms if it.kind is Kind.APART)
        self._first = bool(self._together) and self._matches_all(shape)
        """Whether it may start a group of pods that want to be together."""
        others = {it.key for pod in nodes.shapes for it in pod.terms if it.kind is Kind.APART}
        self._topologies = {
            key: _Topology(nodes, key)
            for key in sorted(others | {it.key for it in (*self._together, *self._apart)})
        }
        self._wanted: Counter[tuple[str, str]] = Counter()
        """Pods that match all terms of the affinity, by domain; without zeros."""
        self._closed: Counter[tuple[str, str]] = Counter()
        """Anti-affinity terms, of both sides, by domain."""
        self._found: dict[PodShape, tuple[bool, tuple[str, ...]]] = {}

    def _matches_all(self, pod: PodShape) -> bool:
        return all(
            it.matches(pod.namespace, pod.namespace_labels, pod.labels) for it in self._together
        )

    def key(self, node: int) -> tuple[str | tuple[bool, bool] | None, ...]:
        """For each topology the value of its label, or the state of the node."""
        return tuple(
            self._state(key, value) if topology.unique and value is not None else value
            for key, topology in self._topologies.items()
            for value in (topology.values[node],)
        )

    def _state(self, key: str, value: str) -> tuple[bool, bool]:
        """Whether a required pod runs in a domain, and whether anti-affinity closes it."""
        return self._wanted.get((key, value), 0) > 0, self._closed.get((key, value), 0) > 0

    def follow(self, node: int, pod: PodShape, count: int) -> None:
        """Note what the terms of both pods say about the node's domains."""
        if pod not in self._found:
            self._found[pod] = (
                bool(self._together) and self._matches_all(pod),
                tuple(self._between(pod)),
            )
        wanted, closed = self._found[pod]
        labels = self._nodes[node].labels
        for key in [it.key for it in self._together] if wanted else ():
            if (value := labels.get(key)) is not None:
                self._wanted[key, value] += count
                if not self._wanted[key, value]:
                    del self._wanted[key, value]
        for key in closed:
            if (value := labels.get(key)) is not None:
                self._closed[key, value] += count

    def _between(self, pod: PodShape) -> Iterator[str]:
        mine = self._shape
        for it in self._apart:
            if it.matches(pod.namespace, pod.namespace_labels, pod.labels):
                yield it.key
        for it in pod.terms:
            if it.kind is Kind.APART and it.matches(
                mine.namespace, mine.namespace_labels, mine.labels
            ):
                yield it.key

    def refused(self, keys: Sequence[tuple[str | tuple[bool, bool] | None, ...]]) -> list[bool]:
        """Whether affinity is not met, or anti-affinity closes a domain."""
        starts = self._first and not self._wanted
        found = []
        for values in keys:
            states = {
                key: self._state(key, it) if isinstance(it, str) else it
                for key, it in zip(self._topologies, values, strict=True)
            }
            met = all(
                (state := states[it.key]) is not None and (starts or state[0])
                for it in self._together
            )
            found.append(not met or any(it is not None and it[1] for it in states.values()))
        return found
