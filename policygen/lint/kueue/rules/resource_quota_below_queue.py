"""A ResourceQuota allows less than the namespace's ClusterQueues admit."""

from policygen.core.amounts import amount_of
from policygen.core.finding import At
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.namespace_quotas import quota_excesses
from policygen.lint.core.rules.workloads_exceed_resource_quota import of_queues
from policygen.lint.kueue.admitted import admitted
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Kueue admits jobs whose pods the API server refuses; they hold the queue's quota unused.

    Source: issues 696, 1403.
    """
    reported, certain = _reported(facts), frozenset[At]()
    if "workloads-exceed-resource-quota" in facts.run:
        certain = facts.derive(of_queues)
    for at, it in facts.cluster.derive(admitted).items():
        hard = it.quota.fields.hard[it.key]
        if not it.exceed(hard) or at in reported:
            continue
        yield Hit(
            RULE,
            f"{it.quota} allows {amount_of(it.resource, hard, it.amount)}, but {it.nominal(hard)}{it.others}, so the "
            f"API server refuses pods of admitted jobs; write at least {it.written}, or remove {it.key} from the ResourceQuota",
            at,
            related=tuple(it.related),
            severity=Severity.ERROR if at in certain else None,
        )


def _reported(facts: Facts) -> frozenset[At]:
    """The limits that workload-exceeds-resource-quota reports with the same advice."""
    if "workload-exceeds-resource-quota" not in facts.run:
        return frozenset()
    return frozenset(
        it.bound.quota.at.to("spec", "hard", it.key) for it in facts.cluster.derive(quota_excesses)
    )


RULE = ObjectRule(
    "resource-quota-below-queue",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Raise the amounts in spec.hard, or remove the compute resources from spec.hard.",
    judges=("ResourceQuota",),
    check=check,
    reads=(
        "LimitRange",
        "LocalQueue",
        "ClusterQueue",
        "PriorityClass",
        "HorizontalPodAutoscaler",
        "ScaledObject",
        *KINDS,
    ),
)
