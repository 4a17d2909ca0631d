"""Decides how the replicas of a serving model are spread, and how many a drain can evict."""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from policygen.core.finding import Hit
from policygen.core.names import HOSTNAME, ZONE
from policygen.plan.assignment import Assignment
from policygen.plan.decisions import Decisions
from policygen.plan.kind import Meta
from policygen.plan.model_names import MODEL
from policygen.plan.rules import SPREAD_NOT_RENDERED
from policygen.plan.workload.scaling import bounds, is_scaled, most_replicas

_KEYS = {"node": HOSTNAME, "zone": ZONE}
"""The label of the nodes that names each failure domain."""


class SpreadFields(Struct, frozen=True):
    """The constraint that separates replicas. At most one of the two fields is set."""

    constraints: tuple[dict[str, Any], ...] = ()
    """`topologySpreadConstraints`, which kube-scheduler counts in its scores."""
    affinity: dict[str, Any] | None = None
    """An anti-affinity: no two replicas run in one domain."""


class DisruptionBudget(Struct, frozen=True):
    """A PodDisruptionBudget."""

    meta: Meta
    model: str
    pool: str
    min_available: int | None
    max_unavailable: int | None


def spread(assignment: Assignment, name: str) -> SpreadFields:
    """What separates the replicas of a Deployment or StatefulSet.

    A pool that packs needs an anti-affinity: a packing score outweighs a constraint that is not
    required (plan/scheduler.py), and a required one is what spread-opposes-packing reports.
    """
    wanted = assignment.model.availability
    if wanted is None or wanted.failure_domain == "none" or obstacle(assignment) is not None:
        return SpreadFields()
    key = _KEYS[wanted.failure_domain]
    selector = {"matchLabels": {"app": name}}
    if _packs(assignment):
        required = [{"topologyKey": key, "labelSelector": selector}]
        field = "requiredDuringSchedulingIgnoredDuringExecution"
        return SpreadFields(affinity={"podAntiAffinity": {field: required}})
    soft = {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "ScheduleAnyway"}
    return SpreadFields(constraints=({**soft, "labelSelector": selector},))


def is_apart(assignment: Assignment) -> bool:
    """Whether each replica needs its own node."""
    return spread(assignment, "").affinity is not None


def separation(assignment: Assignment) -> str:
    """What separates replicas: `own node`, `nodes` or `zones`; "" for nothing.

    `own node` is required, the others are preferred.
    """
    found = spread(assignment, "")
    if found.affinity is not None:
        return "own node"
    keys = {it["topologyKey"] for it in found.constraints}
    return {HOSTNAME: "nodes", ZONE: "zones"}[keys.pop()] if keys else ""


def nodes(assignment: Assignment) -> int:
    """The number of nodes of the pools of a model."""
    return sum(it.node_count for it in assignment.pools)


def obstacle(assignment: Assignment) -> str | None:
    """Why the pools of a model cannot spread its replicas; None if they can."""
    wanted = assignment.model.availability
    if wanted is None or wanted.failure_domain == "none":
        return None
    if any(it.policy.topology_aware and it.scheduler == "kueue" for it in assignment.pools):
        return (
            "is topologyAware, so Kueue chooses the node of each pod and does not read such constraints; "
            "choose a pool without topologyAware"
        )
    if not _packs(assignment):
        return None
    if wanted.failure_domain == "zone":
        return "packs nodes, which outweighs zones; write failureDomain: node, or use a pool with spread: true"
    most, count = most_replicas(assignment), nodes(assignment)
    if most > count:
        return (
            f"packs nodes, so each replica would need its own node, and {most} replicas can run on {count} "
            "nodes; use a pool with spread: true, or lower the number of replicas"
        )
    return None


def reports(assignment: Assignment) -> Iterator[Hit]:
    """A warning if the spread that a model needs is not rendered."""
    reason = obstacle(assignment)
    if reason is not None:
        model = assignment.model
        message = f'replicas of model "{model.name}" are not spread: {assignment.place} {reason}'
        yield Hit(SPREAD_NOT_RENDERED, message, model.field("availability") / "failureDomain")


def budget(decided: Decisions, assignment: Assignment) -> DisruptionBudget | None:
    """The PodDisruptionBudget of a model; None if it needs none or has no namespace."""
    wanted, namespace = assignment.model.availability, assignment.namespace
    if wanted is None or namespace is None:
        return None
    name, least = assignment.model.name, wanted.min_available
    if least is not None and is_scaled(assignment) and bounds(assignment).least <= least:
        least = None  # such a budget would block drains while the fewest replicas run
    return DisruptionBudget(
        meta=Meta(name, decided.platform.name, namespace.name, own_labels={MODEL: name}),
        model=name,
        pool=assignment.facts.name,
        min_available=least,
        max_unavailable=1 if least is None else None,
    )


def budgets(decided: Decisions) -> Iterator[DisruptionBudget]:
    """The PodDisruptionBudgets of all models."""
    for assignment in decided.workloads.assignments:
        made = budget(decided, assignment)
        if made is not None:
            yield made


def _packs(assignment: Assignment) -> bool:
    return any(it.policy.bin_pack for it in assignment.pools)
