"""A limit on borrowing or lending where there is nobody to borrow from or lend to."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.kueue.cohorts import cohort_field
from policygen.lint.kueue.quotas import quotas
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """A ClusterQueue's borrowingLimit is refused by its CRD already, which `crd-rule-broken` tells.

    Source: pkg/webhooks/clusterqueue_webhook.go, validateLimit.
    """
    for queue in facts.cluster.cluster_queues:
        if queue.it.cohort_name:
            continue
        for it in quotas(queue):
            if it.quota.lending_limit is not None:
                yield Hit(
                    RULE,
                    f"{queue} limits what it lends of {it.resource} and is in no cohort, which is "
                    f"refused; write {cohort_field(queue)}, or remove lendingLimit",
                    it.at / "lendingLimit",
                )
    for cohort in facts.cluster.cohorts:
        if cohort.it.parent_name:
            continue
        for it in quotas(cohort):
            limits = {
                "borrowingLimit": it.quota.borrowing_limit,
                "lendingLimit": it.quota.lending_limit,
            }
            for field, limit in limits.items():
                if limit is not None:
                    yield Hit(
                        RULE,
                        f"{cohort} has a {field} for {it.resource} and no parent, which is "
                        f"refused; write parentName, or remove {field}",
                        it.at / field,
                    )


RULE = ObjectRule(
    "limits-without-cohort",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    judges=("ClusterQueue", "Cohort"),
    check=check,
)
