"""A ClusterQueue or Cohort limits borrowing or lending but belongs to no cohort."""

from policygen.lint.kueue.cohorts import cohort_field
from policygen.lint.kueue.quotas import quotas
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """The CRD already refuses a ClusterQueue's borrowingLimit; `crd-rule-broken` reports that.

    Source: pkg/webhooks/clusterqueue_webhook.go, validateLimit.
    """
    for queue in facts.cluster.cluster_queues:
        if queue.it.cohort_name:
            continue
        for placed in quotas(queue):
            if placed.quota.lending_limit is not None:
                yield Hit(
                    RULE,
                    f"{queue} has a lendingLimit for {placed.resource} but belongs to no cohort, "
                    f"which Kueue refuses; write {cohort_field(queue)}, or remove lendingLimit",
                    placed.at / "lendingLimit",
                )
    for cohort in facts.cluster.cohorts:
        if cohort.it.parent_name:
            continue
        for placed in quotas(cohort):
            limits = {
                "borrowingLimit": placed.quota.borrowing_limit,
                "lendingLimit": placed.quota.lending_limit,
            }
            for field, limit in limits.items():
                if limit is not None:
                    yield Hit(
                        RULE,
                        f"{cohort} has a {field} for {placed.resource} but belongs to no cohort, "
                        f"which Kueue refuses; write parentName, or remove {field}",
                        placed.at / field,
                    )


RULE = ObjectRule(
    "limits-without-cohort",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Set cohortName in the ClusterQueue or parentName in the Cohort, or remove the limit.",
    judges=("ClusterQueue", "Cohort"),
    check=check,
)
