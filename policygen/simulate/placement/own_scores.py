"""The scores that depend on one node only: NodeResourcesFit and NodeResourcesBalancedAllocation.

They are computed for many nodes at a time, column by column, because a loop over the resources of each
node takes three times as long. Source: pkg/scheduler/framework/plugins/noderesources of Kubernetes 1.36.3.
"""

import math
from collections.abc import Sequence
from operator import add
from typing import Protocol

from policygen.simulate.placement.nodes import NodeTable
from policygen.simulate.placement.profile import Profile, Strategy
from policygen.simulate.placement.shape import PodShape

BALANCED = "NodeResourcesBalancedAllocation"
FIT = "NodeResourcesFit"
_NATIVE = ("cpu", "memory", "ephemeral-storage")
_MOST = 100
"""The highest score of a plugin (MaxNodeScore)."""

Columns = tuple[list[int], list[int], int]
"""Allocatable amounts, amounts that are left, and the amount that a pod counts with."""


class Scorer(Protocol):
    """Filters and scores nodes for one shape, each by itself."""

    def scored(self, candidates: Sequence[int]) -> tuple[Sequence[int], Sequence[int]]:
        """Those of the nodes that have room for a pod, and the score of each."""
        ...


class OwnPart(Protocol):
    """One plugin."""

    def of(self, nodes: Sequence[int]) -> list[int]:
        """The scores of nodes with room for the pod, from 0 to 100."""
        ...


class OwnScores:
    """The sum of the weighted scores of plugins, on nodes with enough of what a pod requests."""

    def __init__(self, nodes: NodeTable, shape: PodShape, profile: Profile) -> None:
        scarce_first = sorted(shape.requests, key=lambda it: (it[0] in _NATIVE, it[0] == "pods"))
        room = [
            (nodes.free(name), amount) for name, amount in scarce_first if FIT in profile.filters
        ]
        self._room = [(one, room[min(i + 1, len(room) - 1)]) for i, one in enumerate(room)][::2]
        """What must be free, two resources at a time: a pass over the nodes for each takes longer."""
        self.parts: dict[str, tuple[int, OwnPart]] = {}
        if weight := profile.weights.get(FIT):
            self.parts[FIT] = weight, fit(nodes, shape, profile.strategy)
        balanced = tuple(it for it in profile.balanced if _counts(shape, it))
        if (weight := profile.weights.get(BALANCED)) and any(shape.amount(it) for it in balanced):
            self.parts[BALANCED] = (
                weight,
                Balanced(nodes, shape, balanced, checked=FIT in profile.filters),
            )

    def scored(self, candidates: Sequence[int]) -> tuple[Sequence[int], Sequence[int]]:
        """Those of the nodes that have room for a pod, and the score of each."""
        for (free, amount), (other, more) in self._room:
            candidates = [it for it in candidates if free[it] >= amount and other[it] >= more]
        total: list[int] | None = None
        for weight, part in self.parts.values():
            found = _weighted(part.of(candidates), weight)
            total = found if total is None else list(map(add, total, found))
        return candidates, [0] * len(candidates) if total is None else total


class KeptScores:
    """The scores of an `OwnScores` for several rankings: only those of changed nodes are computed again."""

    def __init__(self, nodes: NodeTable, scorer: Scorer) -> None:
        self._scorer = scorer
        self._versions = nodes.versions
        self._seen = [-1] * len(nodes.all)
        """The version of each node whose score is known."""
        self._scores = [-1] * len(nodes.all)
        """-1: the node has no room."""

    def scored(self, candidates: Sequence[int]) -> tuple[Sequence[int], Sequence[int]]:
        """Those of the nodes that have room for a pod, and the score of each."""
        versions, seen, scores = self._versions, self._seen, self._scores
        changed = [it for it in candidates if seen[it] != versions[it]]
        for it in changed:
            seen[it] = versions[it]
            scores[it] = -1
        for it, score in zip(*self._scorer.scored(changed), strict=True):
            scores[it] = score
        room = [it for it in candidates if scores[it] >= 0]
        return room, [scores[it] for it in room]


def _weighted(scores: list[int], weight: int) -> list[int]:
    return scores if weight == 1 else [weight * it for it in scores]


def fit(nodes: NodeTable, shape: PodShape, strategy: Strategy) -> OwnPart:
    """NodeResourcesFit. An extended resource that a pod does not request does not count."""
    found = [
        (weight, (nodes.allocatable(it), nodes.spare(it), shape.scored_amount(it)))
        for it, weight in strategy.resources
        if _counts(shape, it)
    ]
    if strategy.table:
        return ByUtilization(found, strategy.table)
    return Allocated(found, most=strategy.most)


def _counts(shape: PodShape, resource: str) -> bool:
    return resource in _NATIVE or shape.amount(resource) > 0


class Allocated:
    """LeastAllocated or MostAllocated: the weighted mean of the resources, rounded down."""

    def __init__(self, resources: Sequence[tuple[int, Columns]], *, most: bool) -> None:
        self._resources = resources
        self._most = most
        self._weights: list[int] | None = None
        self._sum = sum(weight for weight, _ in resources)
        if any(0 in have for _, (have, _, _) in resources):
            columns = [[weight if it else 0 for it in have] for weight, (have, _, _) in resources]
            self._weights = [sum(them) for them in zip(*columns, strict=True)]

    def of(self, nodes: Sequence[int]) -> list[int]:
        """The scores of the nodes."""
        if len(self._resources) == self._sum == 2 and not (self._most or self._weights):
            return self._least_of_two(nodes)
        total: list[int] | None = None
        for weight, columns in self._resources:
            found = self._most_of(nodes, columns) if self._most else self._least_of(nodes, columns)
            found = _weighted(found, weight)
            total = found if total is None else list(map(add, total, found))
        if total is None:
            return [0] * len(nodes)
        if self._weights is None:
            return total if self._sum == 1 else [it // self._sum for it in total]
        weights = self._weights
        return [it // (weights[node] or 1) for node, it in zip(nodes, total, strict=True)]

    def _least_of_two(self, nodes: Sequence[int]) -> list[int]:
        """Cpu and memory with the weight 1, the default, in one pass."""
        (_, (have, left, amount)), (_, (have2, left2, amount2)) = self._resources
        return [
            (
                (rest * _MOST // have[it] if (rest := left[it] - amount) > 0 else 0)
                + (rest * _MOST // have2[it] if (rest := left2[it] - amount2) > 0 else 0)
            )
            // 2
            for it in nodes
        ]

    def _least_of(self, nodes: Sequence[int], columns: Columns) -> list[int]:
        have, left, amount = columns
        return [
            (rest * _MOST // have[it] if (rest := left[it] - amount) > 0 else 0) for it in nodes
        ]

    def _most_of(self, nodes: Sequence[int], columns: Columns) -> list[int]:
        have, left, amount = columns
        return [
            (
                (have[it] - rest) * _MOST // have[it]
                if (rest := left[it] - amount) > 0
                else (_MOST if have[it] else 0)
            )
            for it in nodes
        ]


class ByUtilization:
    """RequestedToCapacityRatio: resources with a score of 0 do not count; rounded to the nearest."""

    def __init__(self, resources: Sequence[tuple[int, Columns]], table: Sequence[int]) -> None:
        self._resources = resources
        self._table = table

    def of(self, nodes: Sequence[int]) -> list[int]:
        """The scores of the nodes."""
        return [self._one(it) for it in nodes]

    def _one(self, node: int) -> int:
        total = weights = 0
        for weight, (allocatable, left, amount) in self._resources:
            have = allocatable[node]
            if not have:
                continue
            rest = left[node] - amount
            score = self._table[(have - rest) * _MOST // have if rest >= 0 else _MOST]
            if score > 0:
                total += score * weight
                weights += weight
        return half_up(total / weights) if weights else 0


class Balanced:
    """NodeResourcesBalancedAllocation: whether the pod brings the shares of the resources nearer.

    From 1.35 on, the score is the change of the balance; before, it was the balance with the pod.
    """

    def __init__(
        self, nodes: NodeTable, shape: PodShape, resources: Sequence[str], *, checked: bool = True
    ) -> None:
        self._columns = [
            (nodes.allocatable(it), nodes.free(it), shape.amount(it)) for it in resources
        ]
        self._before = nodes.derived((BALANCED, *resources))
        """The balance without the pod; -1: not known."""
        self._nodes = nodes
        # With room for the pod, no share is above 1, unless pods hold more than all of a resource.
        self._simple = (
            checked and len(resources) == 2 and not any(0 in have for have, _, _ in self._columns)
        )

    def of(self, nodes: Sequence[int]) -> list[int]:
        """The scores of the nodes."""
        if not self._simple or self._nodes.overcommitted:
            return [self._one(it) for it in nodes]
        (have, free, amount), (have2, free2, amount2) = self._columns
        before = self._before
        return [
            50
            + (
                50
                + int(
                    (
                        1
                        - abs(
                            (have[it] - free[it] + amount) / have[it]
                            - (have2[it] - free2[it] + amount2) / have2[it]
                        )
                        / 2
                    )
                    * 100
                )
                - (old if (old := before[it]) >= 0 else self._balance_before(it))
            )
            // 2
            for it in nodes
        ]

    def _balance_before(self, node: int) -> int:
        (have, free, _), (have2, free2, _) = self._columns
        apart = (have[node] - free[node]) / have[node] - (have2[node] - free2[node]) / have2[node]
        found = self._before[node] = int((1 - abs(apart) / 2) * 100)
        return found

    def _one(self, node: int) -> int:
        before, after = [], []
        for allocatable, free, amount in self._columns:
            if have := allocatable[node]:
                used = have - free[node]
                before.append(min(used / have, 1.0))
                after.append(min((used + amount) / have, 1.0))
        return 50 + (50 + balance(after) - balance(before)) // 2


def balance(shares: Sequence[float]) -> int:
    """100 less the standard deviation of the shares in per cent."""
    deviation = 0.0
    if len(shares) == 2:
        deviation = abs((shares[0] - shares[1]) / 2)
    elif len(shares) > 2:
        total = 0.0
        for it in shares:
            total += it
        mean = total / len(shares)
        squares = 0.0
        for it in shares:
            squares += (it - mean) * (it - mean)
        deviation = math.sqrt(squares / len(shares))
    return int((1 - deviation) * _MOST)


def half_up(value: float) -> int:
    """A number that is not negative, rounded as Go's math.Round does it: halves up."""
    whole = int(value)
    return whole + 1 if value - whole >= 0.5 else whole
