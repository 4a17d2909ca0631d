"""A PodDisruptionBudget selects no pod, so it has no effect."""

from collections.abc import Iterator

from policygen.core.finding import Path
from policygen.core.quoting import as_yaml
from policygen.kubernetes.disruption_budgets import Budget
from policygen.kubernetes.pod_terms import PodTerm, TermKind
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.pod_partners import is_open, partners
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """The server evicts the pods that the budget is meant for, all at once.

    Only if the input has all pods of the namespace. A budget without a selector selects no pod either.
    Source: pkg/controller/disruption/disruption.go, getPodsForPdb, of Kubernetes 1.36.3.
    """
    known = facts.derive(partners) if facts.cluster.pod_disruption_budgets else None
    for budget in facts.cluster.pod_disruption_budgets:
        if known is None or budget.namespace not in known.namespaces:
            continue
        selector, own = budget.fields.selector, frozenset({budget.namespace})
        term = PodTerm(TermKind.APART, "", 0, selector, own, None)
        if next(known.selected([term]), None) is not None or is_open(facts, term):
            continue
        path: Path = ("selector",)
        advice = "select the labels of the pods that it protects"
        for key, meant in _meant(facts, budget):
            path, advice = ("selector", "matchLabels", key), f"write {key}: {as_yaml(meant)}"
            break
        yield Hit(
            RULE,
            f"{budget} selects no pod, so a drain can evict all replicas at once; {advice}",
            budget.at.to("spec", *path),
        )


def _meant(facts: Facts, budget: Budget) -> Iterator[tuple[str, str]]:
    """A label of the selector, and a similar value that pods of the namespace have."""
    selector, known = budget.fields.selector, facts.derive(partners)
    for key, value in selector.match_labels.items() if selector else ():
        names = known.values(key, {budget.namespace})
        meant = names.meant(value)
        if meant and meant != value:
            yield key, meant


RULE = ObjectRule(
    "budget-selects-no-pod",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Select the labels of the pods in selector.",
    judges=("PodDisruptionBudget",),
    check=check,
    needs=frozenset({Need.WHOLE, Need.WORKLOADS}),
    reads=(*KINDS, "Configuration", "Namespace"),
)
