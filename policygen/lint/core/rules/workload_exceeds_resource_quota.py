"""A workload requests more GPUs than the quota of its namespace allows."""

from fractions import Fraction

from policygen.core.amounts import amount_of, readable, total
from policygen.core.finding import Exceeded
from policygen.kubernetes import accelerators
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.workloads import KINDS, Workload
from policygen.lint.core.namespace_quotas import bounds
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Pods above the quota are refused when they are created. Skips quotas with scopes.

    Source: pkg/quota/v1/evaluator/core/pods.go, PodUsageFunc.
    """
    by_namespace = facts.cluster.derive(bounds)
    for workload in facts.cluster.workloads:
        limits = by_namespace.get(workload.namespace, {})
        needs = _needs(facts.cluster, workload) if limits else {}
        for name, amount in needs.items():
            bound = limits.get(f"requests.{name}")
            if bound is not None and amount > bound.limit >= 0:
                all_of = f"{bound.quota} allows {amount_of(name, bound.limit, amount)}"
                yield Hit(
                    RULE,
                    f"{workload} requests {amount_of(name, amount, bound.limit)} in all its pods together, but "
                    f"{bound.quota} allows {readable(name, bound.limit, amount)}, so the API server "
                    "refuses the last pods; run fewer pods, or raise the quota",
                    workload.at / "spec",
                    (bound.quota.at.to("spec", "hard", f"requests.{name}"),),
                    exceeds=(Exceeded(workload.at, name, bound.limit, all_of),),
                )


def _needs(cluster: Cluster, workload: Workload) -> dict[str, Fraction]:
    requests = (
        (accelerators.requested(cluster, template), template.replicas or 0)
        for template in workload.templates
    )
    return total(
        {name: it * count for name, it in amounts.items()} for amounts, count in requests if amounts
    )


RULE = ObjectRule(
    "workload-exceeds-resource-quota",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Run no more pods than the quota allows, or raise the quota.",
    judges=KINDS,
    check=check,
    reads=("ResourceQuota",),
)
