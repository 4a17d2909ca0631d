"""One profile of a KubeSchedulerConfiguration: which plugins score, with which weights and arguments.

Source: pkg/scheduler/apis/config/v1/{default_plugins,defaults}.go and framework/runtime/framework.go of
Kubernetes 1.36.3.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from policygen.core.names import DEFAULT_SCHEDULER, HOSTNAME, ZONE
from policygen.kubernetes.configurations import SchedulerProfileView
from policygen.kubernetes.node_filters import REQUIRED, Demand, demand
from policygen.kubernetes.pod_terms import PREFERRED
from policygen.kubernetes.scheduler_plugins import WEIGHTS, enabled_plugins
from policygen.kubernetes.untyped import integer, mapping, mappings, text
from policygen.kubernetes.workloads import PodSpec
from policygen.simulate.placement.shape import (
    Constraint,
    Preference,
    preferences,
)

FILTERS = (
    "NodeUnschedulable",
    "NodeName",
    "TaintToleration",
    "NodeAffinity",
    "NodeResourcesFit",
    "PodTopologySpread",
    "InterPodAffinity",
)
"""The default plugins that filter nodes, in their order, without those for ports, volumes and claims."""
NOT_MODELLED = frozenset({"VolumeBinding", "ImageLocality", "DynamicResources"})
"""They score 0 for pods without volumes and claims, on nodes that do not list their images."""
SYSTEM_CONSTRAINTS = (
    Constraint(HOSTNAME, 3, None, soft=True),
    Constraint(ZONE, 5, None, soft=True),
)
_HOST = (("cpu", 1), ("memory", 1))
_SHAPE_STEP = 10
"""Scores of shapes are 0 to 10, and scores of nodes 0 to 100."""


class Strategy(Struct, frozen=True):
    """The scoring strategy of NodeResourcesFit."""

    resources: tuple[tuple[str, int], ...] = _HOST
    """Resources and their weights."""
    most: bool = False
    """MostAllocated; false: LeastAllocated."""
    table: tuple[int, ...] = ()
    """RequestedToCapacityRatio: the score by utilization in per cent; empty: another strategy."""


class Profile(Struct, frozen=True):
    """How nodes are scored."""

    name: str = DEFAULT_SCHEDULER
    weights: Mapping[str, int] = WEIGHTS
    filters: tuple[str, ...] = FILTERS
    """In the order in which they look at a node."""
    strategy: Strategy = Strategy()
    balanced: tuple[str, ...] = ("cpu", "memory")
    constraints: tuple[Constraint, ...] = SYSTEM_CONSTRAINTS
    """Default constraints for pods without their own."""
    system_constraints: bool = True
    hard_pod_affinity_weight: int = 1
    ignores_terms_of_others: bool = False
    """Whether terms of existing pods do not count for pods without preferred terms."""
    preferences: tuple[Preference, ...] = ()
    """Preferred node affinity that NodeAffinity adds to every pod."""
    required: Demand | None = None
    """Required node affinity that NodeAffinity adds to every pod."""
    not_modelled: tuple[str, ...] = ()
    """Enabled plugins that this simulation does not know."""


def profile(view: SchedulerProfileView) -> Profile:
    """The profile that kube-scheduler reads; settings that it would refuse are undefined."""
    args = {it.name: it.args for it in view.plugin_config}
    spread = args.get("PodTopologySpread", {})
    affinity = args.get("InterPodAffinity", {})
    balanced = mappings(args.get("NodeResourcesBalancedAllocation", {}), "resources")
    listed = spread.get("defaultingType") == "List"
    added = mapping(args.get("NodeAffinity", {}), "addedAffinity")
    weights = enabled_plugins(view, "score", WEIGHTS)
    filters = enabled_plugins(view, "filter", dict.fromkeys(FILTERS, 1))
    hard = integer(affinity.get("hardPodAffinityWeight"))
    return Profile(
        name=view.scheduler_name,
        weights=weights,
        filters=tuple(filters),
        strategy=_strategy(mapping(args.get("NodeResourcesFit", {}), "scoringStrategy")),
        balanced=tuple(text(it, "name") for it in balanced) or ("cpu", "memory"),
        constraints=tuple(_constraints(spread)) if listed else SYSTEM_CONSTRAINTS,
        system_constraints=not listed,
        hard_pod_affinity_weight=1 if hard is None else hard,
        ignores_terms_of_others=affinity.get("ignorePreferredTermsOfExistingPods") is True,
        preferences=tuple(preferences(added.get(PREFERRED))),
        required=demand(PodSpec(affinity={"nodeAffinity": added}), {})
        if REQUIRED in added
        else None,
        not_modelled=tuple(sorted((weights.keys() | filters.keys()) - {*WEIGHTS, *FILTERS})),
    )


def _strategy(data: Mapping[str, Any]) -> Strategy:
    resources = tuple(
        (text(it, "name"), integer(it.get("weight")) or 1) for it in mappings(data, "resources")
    )
    kind = data.get("type")
    points = mappings(data, "requestedToCapacityRatio", "shape")
    return Strategy(
        resources or _HOST,
        kind == "MostAllocated",
        utilization_table(
            [(integer(it.get("utilization")) or 0, integer(it.get("score")) or 0) for it in points]
        )
        if kind == "RequestedToCapacityRatio" and points
        else (),
    )


def utilization_table(points: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """The scores, 0 to 100, of a broken line through one or more points of utilization and score, 0 to 10.

    Between two points, Go's division rounds towards zero (helper.BuildBrokenLinearFunction).
    """
    return tuple(_on_line([(x, y * _SHAPE_STEP) for x, y in points], it) for it in range(101))


def _on_line(points: Sequence[tuple[int, int]], at: int) -> int:
    before: tuple[int, int] | None = None
    for x, y in points:
        if at <= x:
            if before is None:
                return y
            rise = (y - before[1]) * (at - before[0])
            whole = abs(rise) // (x - before[0])
            return before[1] + (whole if rise >= 0 else -whole)
        before = x, y
    return points[-1][1]


def _constraints(data: Mapping[str, Any]) -> Iterator[Constraint]:
    for it in mappings(data, "defaultConstraints"):
        yield Constraint(
            key=text(it, "topologyKey"),
            max_skew=integer(it.get("maxSkew")) or 1,
            selector=None,
            soft=it.get("whenUnsatisfiable") == "ScheduleAnyway",
        )
