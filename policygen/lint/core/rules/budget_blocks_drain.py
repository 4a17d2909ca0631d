"""A PodDisruptionBudget refuses every eviction, so its nodes can never be drained."""

from collections.abc import Iterator

from policygen.core.finding import Path
from policygen.core.quoting import counted
from policygen.kubernetes.core import PodDisruptionBudgetView
from policygen.kubernetes.table import Entry
from policygen.kubernetes.workloads import KINDS, PodTemplate, Workload
from policygen.lint.core.autoscalers import autoscaler_of
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity

Selected = list[tuple[Workload, PodTemplate]]
Budget = Entry[PodDisruptionBudgetView]


def check(facts: Facts) -> Hits:
    """Only budgets that select pods of the input. With an autoscaler, its maximum counts.

    Source: pkg/controller/disruption/disruption.go, getExpectedPodCount; pkg/registry/core/pod/rest/
    eviction.go, which refuses pods with more than one budget.
    """
    of_pods: dict[int, Budget] = {}
    for budget in facts.cluster.pod_disruption_budgets:
        selected = list(_selected(facts, budget))
        fault = _fault(facts, budget, selected) if selected else None
        if fault is not None:
            path, reason = fault
            message = (
                f"{budget} {reason}, so a drain of their nodes never ends; write maxUnavailable: 1"
            )
            yield Hit(RULE, message, budget.at.to("spec", *path), (selected[0][0].at,))
        for workload, template in selected:
            other = of_pods.setdefault(id(template), budget)
            if other is not budget:
                yield Hit(
                    RULE,
                    f"{budget} and {other} both select the pods of {workload}, and the server refuses to "
                    "evict pods with two budgets, so a drain of their nodes never ends; remove one budget",
                    budget.at.to("spec", "selector"),
                    (other.at.to("spec", "selector"),),
                )


def _selected(facts: Facts, budget: Budget) -> Iterator[tuple[Workload, PodTemplate]]:
    selector = budget.fields.selector
    if selector is None:
        return
    for workload in facts.cluster.workloads:
        if workload.namespace == budget.namespace:
            for template in workload.templates:
                if selector.selects(template.labels):
                    yield workload, template


def _fault(facts: Facts, budget: Budget, selected: Selected) -> tuple[Path, str] | None:
    """The field that refuses every eviction, and why; None if a pod can be evicted."""
    most, least = budget.fields.max_unavailable, budget.fields.min_available
    if most in (0, "0", "0%"):
        return ("maxUnavailable",), f"has maxUnavailable: {most}, and no pod can be evicted"
    if isinstance(least, str):
        share = least.removesuffix("%")
        if least.endswith("%") and share.isascii() and share.isdecimal() and int(share) >= 100:
            return ("minAvailable",), f"has minAvailable: {least}, and no pod can be evicted"
        return None
    pods = [_pods(facts, *it) for it in selected]
    if least is None or None in pods:
        return None
    total = sum(it for it in pods if it is not None)
    if 0 < total <= least:
        have = "pods that it selects have" if len(selected) > 1 else f"{selected[0][0]} has"
        return (
            "minAvailable",
        ), f"needs {least} available pods, but {have} only {counted(total, 'pod')}"
    return None


def _pods(facts: Facts, workload: Workload, template: PodTemplate) -> int | None:
    """The most pods of a template; None if unknown."""
    autoscaler = autoscaler_of(facts.cluster, workload)
    return template.replicas if autoscaler is None else autoscaler.most


RULE = ObjectRule(
    "budget-blocks-drain",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write maxUnavailable: 1, or a minAvailable below the number of replicas, in one budget.",
    judges=("PodDisruptionBudget",),
    check=check,
    needs=frozenset({Need.WORKLOADS, Need.WHOLE}),
    reads=(*KINDS, "HorizontalPodAutoscaler", "ScaledObject"),
)
