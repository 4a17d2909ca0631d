"""A workload needs more GPUs than its namespace's quota has."""

from collections.abc import Iterator
from fractions import Fraction

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.workloads import KINDS, Workload
from policygen.lint.core import accelerators
from policygen.lint.core.amounts import shown
from policygen.lint.core.namespace_quotas import bounds
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """The pods above the quota are refused when they are made. Quotas with scopes are left out.

    Source: pkg/quota/v1/evaluator/core/pods.go, PodUsageFunc.
    """
    by_namespace = facts.cluster.derive(bounds)
    for workload in facts.cluster.workloads:
        mine = by_namespace.get(workload.namespace, {})
        needs = _needs(facts.cluster, workload) if mine else {}
        for name, amount in needs.items():
            bound = mine.get(f"requests.{name}")
            if bound is not None and amount > bound.limit >= 0:
                yield Hit(
                    RULE,
                    f"all pods of {workload} ask for {shown(name, amount)} {name}, and {bound.quota} "
                    f"allows {shown(name, bound.limit)}: the last ones are refused; run fewer, or "
                    "raise the quota",
                    workload.at / "spec",
                    (bound.quota.at.to("spec", "hard", f"requests.{name}"),),
                )


def _needs(cluster: Cluster, workload: Workload) -> dict[str, Fraction]:
    total: dict[str, Fraction] = {}
    for template in workload.templates:
        for name, amount in accelerators.asked(cluster, template).items():
            total[name] = total.get(name, Fraction(0)) + amount * (template.replicas or 0)
    return total


RULE = ObjectRule(
    "workload-exceeds-resource-quota",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=KINDS,
    check=check,
    reads=("ResourceQuota",),
)
