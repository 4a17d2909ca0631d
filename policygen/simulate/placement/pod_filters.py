"""The filters that depend on other pods: PodTopologySpread and InterPodAffinity.

Each refuses classes of nodes: nodes with equal keys are refused alike. Source:
pkg/scheduler/framework/plugins/{podtopologyspread,interpodaffinity}/filtering.go of Kubernetes 1.36.3.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from policygen.kubernetes.pod_terms import TermKind
from policygen.simulate.placement.common_scores import (
    POD_AFFINITY,
    SPREAD,
    Classes,
    CountedPods,
    counts_in_domain,
    follow_all,
    spread_constraints,
)
from policygen.simulate.placement.nodes import NodeTable
from policygen.simulate.placement.profile import Profile
from policygen.simulate.placement.shape import Constraint, PodShape

_SKEW = "node(s) didn't match pod topology spread constraints"
MISSING_LABEL = f"{_SKEW} (missing required label)"
NO_AFFINITY = "node(s) didn't match pod affinity rules"
_APART = "node(s) didn't match pod anti-affinity rules"
_OTHERS = "node(s) didn't satisfy existing pods anti-affinity rules"


class PodFilter(Classes, Protocol):
    """The filter of one plugin, for one shape."""

    def refusals(self, keys: Sequence[Any]) -> list[str]:
        """Why the nodes of each class take no pod now, in the words of kube-scheduler; empty: they take one."""
        ...


def pod_filters(nodes: NodeTable, shape: PodShape, profile: Profile) -> dict[str, PodFilter]:
    """The filters that can refuse a node, by plugin, up to date with the pods of the nodes."""
    if shape.demand.node_name:  # no scheduler places it
        return {}
    found: dict[str, PodFilter] = {}
    constraints = spread_constraints(shape, profile, soft=False)
    if constraints and SPREAD in profile.filters:
        found[SPREAD] = Skew(nodes, shape, constraints)
    required = any(it.kind is not TermKind.PREFERRED for it in shape.terms)
    others = any(it.kind is TermKind.APART for pod in nodes.with_terms for it in pod.terms)
    if (required or others) and POD_AFFINITY in profile.filters:
        found[POD_AFFINITY] = Required(nodes, shape)
    for each in found.values():
        follow_all(each, nodes)
    return found


class Skew:
    """Constraints with DoNotSchedule: the pods of a domain exceed the least number by no more than maxSkew."""

    def __init__(
        self, nodes: NodeTable, shape: PodShape, constraints: Sequence[Constraint]
    ) -> None:
        self._constraints = constraints
        self._counting = CountedPods(constraints, shape.namespace)
        self._own = [
            it.selector is not None and it.selector.selects(shape.labels) for it in constraints
        ]
        self._topologies = [nodes.topology(it.key) for it in constraints]
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

    def counts(self, pod: PodShape) -> bool:
        """Whether a constraint selects such pods."""
        return bool(self._counting.by(pod))

    def follow(self, node: int, pod: PodShape, count: int) -> None:
        """Count the pods that the constraints select."""
        for i in self._counting.by(pod):
            value = self._counted[i][node]
            if value is not None:
                numbers, before = self._numbers[i], self._pods[i][value]
                self._pods[i][value] = before + count
                numbers[before] -= 1
                if not numbers[before]:
                    del numbers[before]
                numbers[before + count] += 1

    def refusals(self, keys: Sequence[tuple[str | int | None, ...]]) -> list[str]:
        """Why the nodes of each class take no pod: one more exceeds the skew, or a label is missing."""
        least = [
            min(numbers) if len(pods) >= it.min_domains and numbers else 0
            for it, numbers, pods in zip(self._constraints, self._numbers, self._pods, strict=True)
        ]
        return [
            next(filter(None, map(self._refusal, range(len(key)), key, least)), "") for key in keys
        ]

    def _refusal(self, i: int, value: str | int | None, least: int) -> str:
        if value is None:
            return MISSING_LABEL
        pods = value if isinstance(value, int) else self._pods[i].get(value, 0)
        return _SKEW if pods + self._own[i] - least > self._constraints[i].max_skew else ""


State = str | tuple[bool, ...] | None
"""The value of a label; for a label with a value for each node, the state of the node; None: no label."""


class Required:
    """Required pod affinity and anti-affinity of the pod, and required anti-affinity of the pods that run."""

    def __init__(self, nodes: NodeTable, shape: PodShape) -> None:
        self._shape = shape
        self._nodes = nodes.all
        self._together = tuple(it for it in shape.terms if it.kind is TermKind.TOGETHER)
        self._apart = tuple(it for it in shape.terms if it.kind is TermKind.APART)
        self._first = bool(self._together) and self._matches_all(shape)
        """Whether it may start a group of pods that want to be together."""
        others = {
            it.key for pod in nodes.with_terms for it in pod.terms if it.kind is TermKind.APART
        }
        self._topologies = {
            key: nodes.topology(key)
            for key in sorted(others | {it.key for it in (*self._together, *self._apart)})
        }
        self._wanted: Counter[tuple[str, str]] = Counter()
        """Pods that match all terms of the affinity, by domain; without zeros."""
        self._shunned: Counter[tuple[str, str]] = Counter()
        """Pods that its anti-affinity means, by domain."""
        self._closed: Counter[tuple[str, str]] = Counter()
        """Anti-affinity terms of other pods that mean it, by domain."""
        self._found: dict[PodShape, tuple[tuple[Counter[tuple[str, str]], str], ...]] = {}

    def _matches_all(self, pod: PodShape) -> bool:
        return all(
            it.matches(pod.namespace, pod.namespace_labels, pod.labels) for it in self._together
        )

    def key(self, node: int) -> tuple[State, ...]:
        """For each topology the value of its label, or the state of the node."""
        return tuple(
            self._state(key, value) if topology.unique and value is not None else value
            for key, topology in self._topologies.items()
            for value in (topology.values[node],)
        )

    def _state(self, key: str, value: str) -> tuple[bool, ...]:
        """Whether the domain has a pod that it wants, one that it shuns, and one that shuns it."""
        return tuple(
            it.get((key, value), 0) > 0 for it in (self._wanted, self._shunned, self._closed)
        )

    def _matching(self, pod: PodShape) -> tuple[tuple[Counter[tuple[str, str]], str], ...]:
        if pod not in self._found:
            self._found[pod] = tuple(self._between(pod))
        return self._found[pod]

    def counts(self, pod: PodShape) -> bool:
        """Whether a term of either pod means the other pod."""
        return bool(self._matching(pod))

    def follow(self, node: int, pod: PodShape, count: int) -> None:
        """Note what the terms of both pods mean for the node's domains."""
        labels = self._nodes[node].labels
        for counter, key in self._matching(pod):
            if (value := labels.get(key)) is not None:
                counter[key, value] += count
                if not counter[key, value]:
                    del counter[key, value]

    def _between(self, pod: PodShape) -> Iterator[tuple[Counter[tuple[str, str]], str]]:
        """What to count where such a pod runs, with the keys of the topologies."""
        mine = self._shape
        if self._matches_all(pod):
            yield from ((self._wanted, it.key) for it in self._together)
        for it in self._apart:
            if it.matches(pod.namespace, pod.namespace_labels, pod.labels):
                yield self._shunned, it.key
        for it in pod.terms:
            if it.kind is TermKind.APART and it.matches(
                mine.namespace, mine.namespace_labels, mine.labels
            ):
                yield self._closed, it.key

    def refusals(self, keys: Sequence[tuple[State, ...]]) -> list[str]:
        """Why the nodes of each class take no pod: affinity is not met, or anti-affinity closes a domain."""
        starts = self._first and not self._wanted
        return [self._refusal(values, starts=starts) for values in keys]

    def _refusal(self, values: tuple[State, ...], *, starts: bool) -> str:
        states = {
            key: self._state(key, it) if isinstance(it, str) else it
            for key, it in zip(self._topologies, values, strict=True)
        }
        for it in self._together:
            state = states[it.key]
            if state is None or not (starts or state[0]):
                return NO_AFFINITY
        if any(state and state[1] for state in states.values()):
            return _APART
        return _OTHERS if any(state and state[2] for state in states.values()) else ""
