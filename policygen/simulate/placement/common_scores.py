"""The scores that kube-scheduler normalizes over all nodes with room: each for classes of equal nodes.

Source: pkg/scheduler/framework/plugins/{tainttoleration,nodeaffinity,podtopologyspread,interpodaffinity}
and helper/normalize_score.go of Kubernetes 1.36.3.
"""

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from msgspec.structs import replace

from policygen.core.names import HOSTNAME, NODE_NAME
from policygen.core.tolerations import tolerates
from policygen.kubernetes.node_filters import Demand, NotTolerated, hard_taints, misses
from policygen.kubernetes.pod_terms import PodTerm, TermKind
from policygen.simulate.placement.nodes import NodeTable
from policygen.simulate.placement.own_scores import half_up
from policygen.simulate.placement.profile import Profile
from policygen.simulate.placement.shape import Constraint, PodShape

TAINTS, AFFINITY = "TaintToleration", "NodeAffinity"
SPREAD, POD_AFFINITY = "PodTopologySpread", "InterPodAffinity"
_MOST = 100
_SOFT = "PreferNoSchedule"


class Classes(Protocol):
    """Puts nodes into classes for one shape. Nodes with equal keys are equal for a plugin."""

    def key(self, node: int) -> Hashable:
        """The class of a node."""
        ...

    def counts(self, pod: PodShape) -> bool:
        """Whether such pods matter for `follow`."""
        ...

    def follow(self, node: int, pod: PodShape, count: int) -> None:
        """`count` pods were bound to a node; negative: they ended."""
        ...


def follow_all(part: Classes, nodes: NodeTable) -> None:
    """Let a new part follow the pods that nodes have."""
    for pod, held in nodes.held.items():
        if part.counts(pod):
            for node, count in held.items():
                part.follow(node, pod, count)


class CommonPart(Classes, Protocol):
    """The scores of one plugin, for one shape."""

    moves: bool
    """Whether pods change keys or scores."""

    def scores(self, keys: Sequence[Any], sizes: Sequence[int]) -> list[int]:
        """The scores, 0 to 100, of the classes with room; `sizes` are their numbers of nodes."""
        ...


def common_parts(
    nodes: NodeTable, shape: PodShape, profile: Profile
) -> dict[str, tuple[int, CommonPart]]:
    """The plugins that score a shape, with their weights, up to date with the pods of the nodes."""
    weights = profile.weights
    found: dict[str, CommonPart] = {TAINTS: Raw(_taints(nodes, shape), reverse=True)}
    preferred = (*shape.preferences, *profile.preferences)
    if preferred:
        found[AFFINITY] = Raw(
            [
                sum(
                    it.weight
                    for it in preferred
                    if all(one.holds(labels) for one in it.requirements)
                )
                for labels in _labels(nodes)
            ]
        )
    constraints = spread_constraints(shape, profile, soft=True)
    if constraints:
        everywhere = bool(shape.constraints) or not profile.system_constraints
        found[SPREAD] = Spread(nodes, shape, constraints, everywhere=everywhere)
    preferring = any(it.weight for it in shape.terms)
    others = not profile.ignores_terms_of_others and bool(nodes.with_terms)
    if preferring or others:
        found[POD_AFFINITY] = PodAffinity(nodes, shape, profile)
    parts = {name: (weights[name], part) for name, part in found.items() if weights.get(name)}
    for _, part in parts.values():
        if part.moves:
            follow_all(part, nodes)
    return parts


def _labels(nodes: NodeTable) -> Iterable[Mapping[str, str]]:
    return ({**it.labels, NODE_NAME: it.name} for it in nodes.all)


def _taints(nodes: NodeTable, shape: PodShape) -> list[int]:
    """How many soft taints of each node a pod does not tolerate."""
    tolerations = tuple(it for it in shape.demand.tolerations if it.effect in ("", _SOFT))
    return nodes.lasting(
        (TAINTS, tolerations),
        lambda: [
            sum(
                taint.effect == _SOFT and not any(tolerates(it, taint) for it in tolerations)
                for taint in node.taints
            )
            if node.taints
            else 0
            for node in nodes.all
        ],
    )


class Raw:
    """A number of each node that pods do not change, in relation to the highest one."""

    moves = False

    def __init__(self, values: Sequence[int], *, reverse: bool = False) -> None:
        self.values = values
        self._reverse = reverse

    def key(self, node: int) -> int:
        """The number of the node."""
        return self.values[node]

    def counts(self, pod: PodShape) -> bool:  # noqa: ARG002 - of the protocol
        """Pods do not change it."""
        return False

    def follow(self, node: int, pod: PodShape, count: int) -> None:
        """Pods do not change it."""

    def scores(self, keys: Sequence[int], sizes: Sequence[int]) -> list[int]:  # noqa: ARG002 - of the protocol
        """Per cent of the highest number; reversed: 100 less that."""
        most = max(keys)
        found = [_MOST * it // most if most else 0 for it in keys]
        return [_MOST - it for it in found] if self._reverse else found


def spread_constraints(shape: PodShape, profile: Profile, *, soft: bool) -> tuple[Constraint, ...]:
    """Those of the pod, or the default ones with its selector: the soft ones score nodes, the others refuse them."""
    if shape.constraints:
        return tuple(it for it in shape.constraints if it.soft is soft)
    selector = shape.default_selector
    if selector is None or selector.empty:
        return ()
    return tuple(replace(it, selector=selector) for it in profile.constraints if it.soft is soft)


class CountedPods:
    """Which spread constraints count pods of a shape; found once for each shape."""

    def __init__(self, constraints: Sequence[Constraint], namespace: str) -> None:
        self._constraints, self._namespace = constraints, namespace
        self._found: dict[PodShape, tuple[int, ...]] = {}

    def by(self, pod: PodShape) -> tuple[int, ...]:
        """The indexes of the constraints that count a pod.

        An empty selector counts no pods, as a missing one does (countPodsMatchSelector).
        """
        found = self._found.get(pod)
        if found is None:
            found = self._found[pod] = tuple(self._by(pod))
        return found

    def _by(self, pod: PodShape) -> Iterator[int]:
        for i, it in enumerate(self._constraints if pod.namespace == self._namespace else ()):
            selector = it.selector
            if selector is not None and not selector.empty and selector.selects(pod.labels):
                yield i


SpreadKey = tuple[bool, tuple[str | int | None, ...]]
"""Whether the node has all labels that it needs, and for each constraint: the value of its label, or
how many pods of its host count."""


class Spread:
    """PodTopologySpread: the fewer pods in the domains of a node, the higher its score."""

    moves = True

    def __init__(
        self,
        nodes: NodeTable,
        shape: PodShape,
        constraints: Sequence[Constraint],
        *,
        everywhere: bool,
    ) -> None:
        self._constraints = constraints
        self._counting = CountedPods(constraints, shape.namespace)
        self._values = [nodes.topology(it.key).values for it in constraints]
        keys = tuple(it.key for it in constraints)
        self._empty = nodes.lasting(
            (SPREAD, keys, everywhere), lambda: _empty_keys(nodes, keys, everywhere=everywhere)
        )
        """The keys of nodes whose host has no pods that count."""
        self._hosts: set[int] = set()
        """The other nodes, and those that had such pods."""
        self._counted = [counts_in_domain(nodes, shape.demand, it) for it in constraints]
        self._pods: list[Counter[Any]] = [Counter() for _ in constraints]
        """The pods by node for hosts, else by the value of the label."""

    def key(self, node: int) -> SpreadKey:
        """The class of a node."""
        if node not in self._hosts:
            return self._empty[node]
        return self._empty[node][0], tuple(
            self._pods[i][node]
            if it.key == HOSTNAME and self._values[i][node] is not None
            else self._values[i][node]
            for i, it in enumerate(self._constraints)
        )

    def counts(self, pod: PodShape) -> bool:
        """Whether a constraint selects such pods."""
        return bool(self._counting.by(pod))

    def follow(self, node: int, pod: PodShape, count: int) -> None:
        """Count the pods that the constraints select."""
        for i in self._counting.by(pod):
            if self._constraints[i].key == HOSTNAME:
                self._pods[i][node] += count
                self._hosts.add(node)
            elif self._empty[node][0] and self._counted[i][node]:
                self._pods[i][self._values[i][node] or ""] += count

    def scores(self, keys: Sequence[SpreadKey], sizes: Sequence[int]) -> list[int]:
        """100 for the fewest pods; 0 for nodes without a label."""
        known = [(key[1], size) for key, size in zip(keys, sizes, strict=True) if key[0]]
        weights = []
        for i, it in enumerate(self._constraints):
            domains = (
                sum(n for _, n in known) if it.key == HOSTNAME else len({k[i] for k, _ in known})
            )
            weights.append(math.log(domains + 2))
        raw = [self._raw(key[1], weights) if key[0] else None for key in keys]
        numbers = [it for it in raw if it is not None]
        least, most = min(numbers, default=0), max(numbers, default=0)
        return [
            0 if it is None else _MOST if most == 0 else _MOST * (most + least - it) // most
            for it in raw
        ]

    def _raw(self, values: Sequence[str | int | None], weights: Sequence[float]) -> int:
        total = 0.0
        for i, (it, value) in enumerate(zip(self._constraints, values, strict=True)):
            if value is not None:
                count = value if it.key == HOSTNAME else self._pods[i][value]
                total += count * weights[i] + (it.max_skew - 1)  # type: ignore[operator] # an int for hosts
        return half_up(total)


def _empty_keys(nodes: NodeTable, keys: Sequence[str], *, everywhere: bool) -> list[SpreadKey]:
    """The keys of nodes for constraints over these labels, as long as no pods count."""
    values = [nodes.topology(it).values for it in keys]
    columns: list[Sequence[str | int | None]] = [
        [None if one is None else 0 for one in them] if key == HOSTNAME else them
        for key, them in zip(keys, values, strict=True)
    ]
    return [(not everywhere or None not in key, key) for key in zip(*columns, strict=True)]


def counts_in_domain(nodes: NodeTable, demand: Demand, constraint: Constraint) -> Sequence[bool]:
    """Whether the pods of each node count in its domain."""
    honored = constraint.honors_affinity, constraint.honors_taints
    return nodes.lasting(
        ("domain", demand, honored), lambda: _counted_in_domain(nodes, demand, constraint)
    )


def _counted_in_domain(nodes: NodeTable, demand: Demand, constraint: Constraint) -> list[bool]:
    found = [True] * len(nodes.all)
    if constraint.honors_affinity:
        only_labels = Demand((), demand.selector, demand.terms)
        for group in nodes.set.groups(only_labels.keys):
            # Cordons, taints and sizes do not count here.
            refused = any(
                not isinstance(it, NotTolerated)
                for it in misses(only_labels, replace(group, unschedulable=False))
            )
            for node in group.nodes if refused else ():
                found[nodes.index[node.name]] = False
    if constraint.honors_taints:
        for i, node in enumerate(nodes.all):
            found[i] &= not any(hard_taints(demand, node.taints))
    return found


class PodAffinity:
    """InterPodAffinity: the sum of the weights of matching terms in the domains of a node."""

    moves = True

    def __init__(self, nodes: NodeTable, shape: PodShape, profile: Profile) -> None:
        self._shape = shape
        self._hard = profile.hard_pod_affinity_weight
        self._nodes = nodes.all
        self._sums: Counter[tuple[str, str]] = Counter()
        self._found: dict[PodShape, tuple[tuple[str, int], ...]] = {}
        keys = {it.key for it in shape.terms}
        keys.update(it.key for other in nodes.with_terms for it in other.terms)
        self._keys = tuple(sorted(keys - {HOSTNAME}))

    def key(self, node: int) -> tuple[int, tuple[str | None, ...]]:
        """The sum of its host, and the values of the other labels."""
        labels = self._nodes[node].labels
        host = labels.get(HOSTNAME)
        own = 0 if host is None else self._sums[HOSTNAME, host]
        return own, tuple(labels.get(it) for it in self._keys)

    def _matching(self, pod: PodShape) -> tuple[tuple[str, int], ...]:
        if pod not in self._found:
            self._found[pod] = tuple(self._between(pod))
        return self._found[pod]

    def counts(self, pod: PodShape) -> bool:
        """Whether a term of either pod matches the other pod."""
        return bool(self._matching(pod))

    def follow(self, node: int, pod: PodShape, count: int) -> None:
        """Add what the terms of both pods say about the node's domains."""
        labels = self._nodes[node].labels
        for key, weight in self._matching(pod):
            if (value := labels.get(key)) is not None:
                self._sums[key, value] += weight * count

    def _between(self, pod: PodShape) -> Iterable[tuple[str, int]]:
        mine = self._shape
        for it in mine.terms:
            if it.weight and _matches(it, pod):
                yield it.key, it.weight
        for it in pod.terms:
            weight = self._hard if it.kind is TermKind.TOGETHER else it.weight
            if weight and _matches(it, mine):
                yield it.key, weight

    def scores(
        self,
        keys: Sequence[tuple[int, tuple[str | None, ...]]],
        sizes: Sequence[int],  # noqa: ARG002 - of the protocol
    ) -> list[int]:
        """100 for the highest sum, 0 for the lowest; all 0 if the sums are equal."""
        raw = [
            own
            + sum(
                self._sums[key, value]
                for key, value in zip(self._keys, values, strict=True)
                if value is not None
            )
            for own, values in keys
        ]
        least, most = min(raw), max(raw)
        if least == most:
            return [0] * len(raw)
        return [int(_MOST * ((it - least) / (most - least))) for it in raw]


def _matches(term: PodTerm, pod: PodShape) -> bool:
    return term.matches(pod.namespace, pod.namespace_labels, pod.labels)
