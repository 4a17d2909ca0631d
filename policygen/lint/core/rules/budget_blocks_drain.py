"""A PodDisruptionBudget refuses every eviction, so its nodes can never be drained."""

from policygen.core.finding import Path
from policygen.core.go_values import percentage
from policygen.core.names import MANAGED_BY, TOOL
from policygen.core.quoting import counted
from policygen.kubernetes.cluster import VOLCANO_BATCH
from policygen.kubernetes.disruption_budgets import Budget, Selected, budgeted_pods
from policygen.kubernetes.untyped import mappings
from policygen.kubernetes.workloads import KINDS, PodTemplate, Workload
from policygen.lint.core.autoscalers import autoscaler_of
from policygen.lint.core.queue_rooms import RESTARTED
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity

Fault = tuple[Path, str, str]
"""A path in `spec`, the reason, and the remedy."""

_UNSCALED = frozenset(
    {
        ("batch", "Job"),
        ("batch", "CronJob"),
        ("jobset.x-k8s.io", "JobSet"),
        (VOLCANO_BATCH, "Job"),
    }
)
"""Workloads whose pods belong to Jobs. For maxUnavailable and percentages, the server asks the
owner of the pods for its scale. A Job has no scale, so it allows no eviction (`SyncFailed`)."""


def check(facts: Facts) -> Hits:
    """Only budgets that select pods of the input. With an autoscaler, its maximum counts.

    If the input is incomplete, pods are in other manifests. So only budgets that refuse the eviction of
    any number of pods are reported.
    Source: pkg/controller/disruption/disruption.go, getExpectedPodCount and getExpectedScale;
    pkg/registry/core/pod/rest/eviction.go, which refuses pods with more than one budget.
    """
    of_pods: dict[int, Budget] = {}
    complete = {Need.WORKLOADS, Need.WHOLE} <= facts.given
    for budget, selected in facts.cluster.derive(budgeted_pods).by_budget:
        fault = _of_any_pods(budget, selected)
        if selected and complete:
            fault = fault or _fault(facts, budget, selected)
        if fault is not None and (selected or not complete):
            path, reason, remedy = fault
            if (meant := _namesake(facts, budget, selected)) is not None:
                path, remedy = (
                    ("selector",),
                    f"the budget has the name of {meant}, whose pods it does not select; correct the selector",
                )
            message = f"{budget} {reason}, so a drain of their nodes never ends; {remedy}"
            pods = tuple(it.at for it, _ in selected[:1])
            yield Hit(RULE, message, budget.at.to("spec", *path), pods)
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


def _namesake(facts: Facts, budget: Budget, selected: Selected) -> Workload | None:
    """A workload with the name of a budget that selects only pods of others."""
    if not selected or any(it.name == budget.name for it, _ in selected):
        return None
    return next(
        (
            it
            for it in facts.cluster.workloads
            if it.kind in RESTARTED and (it.namespace, it.name) == (budget.namespace, budget.name)
        ),
        None,
    )


def _of_any_pods(budget: Budget, selected: Selected) -> Fault | None:
    """The field that refuses every eviction, whatever the number of pods is."""
    most, least = budget.fields.max_unavailable, budget.fields.min_available
    remedy = _remedy(budget, selected)
    if budget.fields.selector is None:
        return None
    if most in (0, "0", "0%"):
        return ("maxUnavailable",), f"has maxUnavailable: {most}, and no pod can be evicted", remedy
    if isinstance(least, str) and (percentage(least) or 0) >= 100:
        return ("minAvailable",), f"has minAvailable: {least}, and no pod can be evicted", remedy
    return None


def _remedy(budget: Budget, selected: Selected) -> str:
    if _unscaled(selected) is not None:
        return "write a number below the number of pods in minAvailable, or remove the budget"
    instead = " instead of minAvailable" if budget.fields.min_available is not None else ""
    return f"write maxUnavailable: 1{instead}"


def _fault(facts: Facts, budget: Budget, selected: Selected) -> Fault | None:
    """The field that refuses every eviction of these pods; None if a pod can be evicted."""
    most, least = budget.fields.max_unavailable, budget.fields.min_available
    unscaled, remedy = _unscaled(selected), _remedy(budget, selected)
    field, written = ("maxUnavailable", most) if least is None else ("minAvailable", least)
    if unscaled is not None and (least is None or isinstance(least, str)):
        if written is None:
            return None
        bare = unscaled.kind == "Pod"
        pods = f"{unscaled}, which has no controller" if bare else f"the pods of {unscaled}"
        why = f"has {field}: {written}, which Kubernetes cannot compute for {pods}"
        return (field,), f"{why}, and no pod can be evicted", remedy
    return _too_few(facts, budget, selected, remedy)


def _unscaled(selected: Selected) -> Workload | None:
    """A workload because of which the server cannot compute how many pods there should be.

    Pods without an owner do not count. So if all are such pods, it expects none, and allows no eviction.
    """
    owners = [it for it, _ in selected]
    job = next((it for it in owners if (it.object.group, it.kind) in _UNSCALED), None)
    return owners[0] if owners and job is None and all(map(_is_bare, owners)) else job


def _is_bare(workload: Workload) -> bool:
    return workload.kind == "Pod" and not mappings(
        workload.object.data, "metadata", "ownerReferences"
    )


def _too_few(facts: Facts, budget: Budget, selected: Selected, remedy: str) -> Fault | None:
    """A `minAvailable` of as many pods as there are. The server rounds a percentage up.

    A budget that policygen rendered follows from its model, so the replicas of the workload are wrong.
    """
    least = budget.fields.min_available
    pods = [_pods(facts, *it) for it in selected]
    if least is None or None in pods:
        return None
    total = sum(it for it in pods if it is not None)
    shown, needed = f"{least}", least
    if isinstance(needed, str):
        share = percentage(needed)
        if share is None:
            return None
        needed = -(-share * total // 100)
        shown = f"{needed} ({least})"
    if not 0 < total <= needed:
        return None
    have = "pods that it selects have" if len(selected) > 1 else f"{selected[0][0]} has"
    why = f"needs {shown} available pods, but {have} only {counted(total, 'pod')}"
    if budget.object.labels.get(MANAGED_BY) == TOOL:
        remedy = f"write more than {needed} replicas, as in the model"
    return ("minAvailable",), why, remedy


def _pods(facts: Facts, workload: Workload, template: PodTemplate) -> int | None:
    """The most pods of a template; None if unknown."""
    autoscaler = autoscaler_of(facts.cluster, workload)
    return template.replicas if autoscaler is None else autoscaler.most


RULE = ObjectRule(
    "budget-blocks-drain",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write maxUnavailable: 1 in one budget; for Pods and the pods of Jobs, a minAvailable below their number.",
    judges=("PodDisruptionBudget",),
    check=check,
    reads=(*KINDS, "HorizontalPodAutoscaler", "ScaledObject"),
)
