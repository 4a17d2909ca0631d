"""What the plugins of Kubernetes say in Volcano, for pods of one shape: filters, and scores over many nodes.

They are kept up to date with the changes of the nodes. Source: pkg/scheduler/plugins/{predicates,nodeorder}
of Volcano 1.14.1, with the plugins of Kubernetes 1.34.1.
"""

from collections.abc import Container, Sequence
from typing import TypeVar

from policygen.core.names import HOSTNAME
from policygen.kubernetes.pod_terms import TermKind
from policygen.simulate.placement.common_scores import (
    POD_AFFINITY,
    SPREAD,
    Classes,
    CommonPart,
    PodAffinity,
    Spread,
    common_parts,
    follow_all,
    spread_constraints,
)
from policygen.simulate.placement.nodes import NodeTable
from policygen.simulate.placement.pod_filters import (
    MISSING_LABEL,
    NO_AFFINITY,
    Required,
    pod_filters,
)
from policygen.simulate.placement.profile import Profile
from policygen.simulate.placement.scheduler import lasting_refusals
from policygen.simulate.placement.shape import PodShape
from policygen.simulate.volcano.settings import SchedulerSettings, TierPlugin

T = TypeVar("T", bound=Classes)

Refusal = tuple[tuple[str, ...], bool]
"""Why a node takes no pod, and whether no eviction changes that."""

TOO_MANY_PODS = "node(s) pod number exceeded"
_LASTING = (MISSING_LABEL, NO_AFFINITY)
_SWITCHES = {
    "NodeAffinity": "predicate.NodeAffinityEnable",
    "TaintToleration": "predicate.TaintTolerationEnable",
    POD_AFFINITY: "predicate.PodAffinityEnable",
    SPREAD: "predicate.PodTopologySpreadEnable",
}
_WEIGHTS = {
    "TaintToleration": ("tainttoleration.weight", 3),
    POD_AFFINITY: ("podaffinity.weight", 2),
    SPREAD: ("podtopologyspread.weight", 2),
}
_LOG = 500_000
"""The most changes of nodes that are kept."""
_REMEMBERED = 2_000_000
"""The most scores that are kept."""


def profile_of(settings: SchedulerSettings) -> Profile:
    """The plugins of Kubernetes that Volcano runs."""
    predicates = settings.plugin("predicates")
    order = settings.plugin("nodeorder") or TierPlugin("")
    filters = ["NodeUnschedulable"]
    filters += [it for it, switch in _SWITCHES.items() if predicates and predicates.enabled(switch)]
    return Profile(
        weights={it: order.number(*argument) for it, argument in _WEIGHTS.items()},
        filters=tuple(filters) if predicates else (),
        hard_pod_affinity_weight=0,
    )


class _ZoneSpread(Spread):
    """PodTopologySpread as Volcano runs it: on nodes without their pods, so pods of a host do not count."""

    def follow(self, node: int, pod: PodShape, count: int) -> None:
        """Count the pods that the constraints over other labels select."""
        super().follow(node, pod, count)
        for it, pods in zip(self._constraints, self._pods, strict=True):
            if it.key == HOSTNAME:
                pods[node] = 0


class _ListedRequired(Required):
    """InterPodAffinity, which looks for anti-affinity of other pods only on nodes that had some at first.

    Volcano lists these nodes when a session begins.
    """

    def __init__(self, table: NodeTable, shape: PodShape, listed: Container[int]) -> None:
        super().__init__(table, shape)
        self._listed = listed

    def follow(self, node: int, pod: PodShape, count: int) -> None:
        """Note what the terms of both pods mean for the node's domains."""
        closed = self._closed
        if node not in self._listed:
            before = closed.copy()
            super().follow(node, pod, count)
            closed.clear()
            closed.update(before)
        else:
            super().follow(node, pod, count)


class _ListedAffinity(PodAffinity):
    """The scores of InterPodAffinity: for pods without preferred terms, only some nodes count.

    Volcano lists the nodes with pods that have terms when a session begins.
    """

    def __init__(
        self, table: NodeTable, shape: PodShape, profile: Profile, listed: Container[int] | None
    ) -> None:
        super().__init__(table, shape, profile)
        self._listed = listed

    def follow(self, node: int, pod: PodShape, count: int) -> None:
        """Add what the terms of both pods say about the node's domains."""
        if self._listed is None or node in self._listed:
            super().follow(node, pod, count)


def _fed(part: T, table: NodeTable) -> T:
    """A part that knows the pods of all nodes."""
    follow_all(part, table)
    return part


class _Followers:
    """Parts of plugins for one shape."""

    def __init__(self, table: NodeTable, parts: dict[str, Classes]) -> None:
        self.parts = parts
        self._table = table
        self._at = len(table.changes)

    def catch_up(self) -> None:
        """Read the changes since the last time."""
        changes = self._table.changes
        for at in range(self._at, len(changes)):
            pod, count = changes[at]
            for it in self.parts.values():
                it.follow(self._table.changed[at], pod, count)
        self._at = len(changes)


class KubernetesView:
    """The filters and scores of all shapes."""

    def __init__(self, table: NodeTable, settings: SchedulerSettings) -> None:
        self._table = table
        self.profile = profile_of(settings)
        self._lasting: dict[object, dict[int, str]] = {}
        self._filters: dict[PodShape, _Followers] = {}
        self._scores: dict[PodShape, _Followers] = {}
        self._known = 0
        self._remembered: dict[object, tuple[list[float], list[int]]] = {}
        self._leaving: Sequence[tuple[int, PodShape]] = ()
        self._with_terms: set[int] = set()
        """The nodes that had a pod with affinity to pods when the session began."""
        self._apart: set[int] = set()
        """Those that had one with required anti-affinity."""

    def _refresh(self) -> None:
        """Forget what is known if there are new terms between pods, or too many changes."""
        terms = sum(bool(it.terms) for it in self._table.shapes)
        if terms != self._known or len(self._table.changes) > _LOG:
            self._known = terms
            self._filters.clear()
            self._scores.clear()
            if len(self._table.changes) > _LOG:
                self._table.forget()

    def open(self, leaving: Sequence[tuple[int, PodShape]]) -> None:
        """A session begins. `leaving` are pods that end, which constraints over topologies do not count."""
        self._refresh()
        if self._known or leaving or self._leaving:
            self._filters.clear()
            self._scores.clear()
        self._leaving = leaving
        if self._known:
            pods = list(enumerate(self._table.pods))
            self._with_terms = {node for node, them in pods if any(it.terms for it in them)}
            self._apart = {
                node
                for node, them in pods
                if any(one.kind is TermKind.APART for it in them for one in it.terms)
            }

    def remembered(self, key: object) -> tuple[list[float], list[int]]:
        """The scores of nodes for equal pods, and the version of each node that they are for."""
        if key not in self._remembered:
            size = len(self._table.all)
            if len(self._remembered) * size > _REMEMBERED:
                self._remembered.clear()
            self._remembered[key] = [0.0] * size, [-1] * size
        return self._remembered[key]

    def refusals(self, shape: PodShape, among: list[int]) -> dict[int, Refusal]:
        """Which of the nodes take no such pod, apart from their resources, and why."""
        if not self.profile.filters:
            return {}
        lasting = self._lasting_of(shape)
        free = self._table.free("pods")
        found: dict[int, Refusal] = {}
        for node in among:
            if node in lasting:
                found[node] = (lasting[node],), True
            elif free[node] <= 0:
                found[node] = (TOO_MANY_PODS,), False
        left = [it for it in among if it not in lasting]
        if left:
            for why in self._pod_refusals(shape, left):
                for node, reason in zip(left, why, strict=True):
                    if reason:
                        before, hopeless = found.get(node, ((), False))
                        if not hopeless:
                            found[node] = (*before, reason), reason in _LASTING
        return found

    def refused_by_node(self, shape: PodShape, node: int) -> bool:
        """Whether a node takes no such pod, whatever other pods are, apart from its resources."""
        if not self.profile.filters:
            return False
        return node in self._lasting_of(shape) or self._table.free("pods")[node] <= 0

    def refused_by_pods(self, shape: PodShape, node: int) -> bool:
        """Whether constraints over other pods keep such a pod off a node."""
        return bool(self.profile.filters) and any(
            why for (why,) in self._pod_refusals(shape, [node])
        )

    def _pod_refusals(self, shape: PodShape, nodes: list[int]) -> list[list[str]]:
        if shape not in self._filters:
            parts = pod_filters(self._table, shape, self.profile)
            if POD_AFFINITY in parts:
                parts[POD_AFFINITY] = _fed(
                    _ListedRequired(self._table, shape, self._apart), self._table
                )
            if SPREAD in parts:
                self._without_leaving(parts[SPREAD])
            self._filters[shape] = _Followers(self._table, {**parts})
        followers = self._filters[shape]
        followers.catch_up()
        return [
            part.refusals([part.key(it) for it in nodes])  # type: ignore[attr-defined] # a PodFilter
            for part in followers.parts.values()
        ]

    def _without_leaving(self, part: Classes) -> None:
        for node, pod in self._leaving:
            part.follow(node, pod, -1)

    def _lasting_of(self, shape: PodShape) -> dict[int, str]:
        key = shape.demand
        if key not in self._lasting:
            found: dict[int, str] = {}
            for group in self._table.set.groups(key.keys):
                for name, why in lasting_refusals(key, group):
                    if name in self.profile.filters:
                        for it in group.nodes:
                            found.setdefault(self._table.index[it.name], why)
            self._lasting[key] = found
        return self._lasting[key]

    def parts(self, shape: PodShape) -> dict[str, tuple[int, CommonPart]]:
        """The scores that are normalized over nodes, with their weights."""
        weights = self.profile.weights
        if shape not in self._scores:
            others = Profile(weights={**weights, SPREAD: 0}, hard_pod_affinity_weight=0, filters=())
            parts: dict[str, Classes] = {
                name: it for name, (_, it) in common_parts(self._table, shape, others).items()
            }
            if POD_AFFINITY in parts:
                preferring = any(it.weight for it in shape.terms)
                listed = None if preferring else self._with_terms
                parts[POD_AFFINITY] = _fed(
                    _ListedAffinity(self._table, shape, others, listed), self._table
                )
            constraints = spread_constraints(shape, self.profile, soft=True)
            if constraints and weights[SPREAD]:
                everywhere = bool(shape.constraints)
                parts[SPREAD] = _fed(
                    _ZoneSpread(self._table, shape, constraints, everywhere=everywhere),
                    self._table,
                )
                self._without_leaving(parts[SPREAD])
            self._scores[shape] = _Followers(self._table, parts)
        followers = self._scores[shape]
        followers.catch_up()
        return {name: (weights[name], it) for name, it in followers.parts.items()}  # type: ignore[misc] # CommonParts
