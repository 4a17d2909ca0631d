"""Which pods each PodDisruptionBudget selects."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from msgspec import Struct

from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.core import PodDisruptionBudgetView
from policygen.kubernetes.table import Entry
from policygen.kubernetes.workloads import PodTemplate, Workload

Budget = Entry[PodDisruptionBudgetView]
Selected = Sequence[tuple[Workload, PodTemplate]]


class BudgetedPods(Struct, frozen=True):
    """The pods that the budgets of a cluster select."""

    by_budget: Sequence[tuple[Budget, Selected]]
    """All budgets in the order of the input, each with the pods that it selects."""
    by_template: Mapping[int, Sequence[Budget]]
    """The budgets that select the pods of a template, by `id` of the template."""


def budgeted_pods(cluster: Cluster) -> BudgetedPods:
    """The pods that each budget selects; use it with `cluster.derive`.

    Looks up templates by label. To compare all pairs takes minutes if each application has a budget.
    """
    by_namespace: dict[str, list[tuple[Workload, PodTemplate]]] = defaultdict(list)
    by_label: dict[tuple[str, str, str], list[tuple[Workload, PodTemplate]]] = defaultdict(list)
    for workload in cluster.workloads if cluster.pod_disruption_budgets else ():
        namespace = workload.namespace
        for template in workload.templates:
            by_namespace[namespace].append((workload, template))
            for key, value in template.labels.items():
                by_label[namespace, key, value].append((workload, template))

    by_budget: list[tuple[Budget, Selected]] = []
    by_template: dict[int, list[Budget]] = defaultdict(list)
    for budget in cluster.pod_disruption_budgets:
        selector, namespace = budget.fields.selector, budget.namespace
        if selector is None:
            by_budget.append((budget, ()))
            continue
        lists = [by_label.get((namespace, *it), []) for it in selector.match_labels.items()]
        shortest = min(lists, key=len, default=by_namespace[namespace])
        selected = [it for it in shortest if selector.selects(it[1].labels)]
        by_budget.append((budget, selected))
        for _, template in selected:
            by_template[id(template)].append(budget)
    return BudgetedPods(by_budget, by_template)
