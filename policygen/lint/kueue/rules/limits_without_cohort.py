"""A ClusterQueue or Cohort limits borrowing or lending but belongs to no cohort."""

from policygen.lint.kueue.cohorts import cohort_field, joined
from policygen.lint.kueue.quotas import amounts, parents, quotas
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """The CRD already refuses a ClusterQueue's borrowingLimit; `crd-rule-broken` reports that.

    Source: pkg/webhooks/clusterqueue_webhook.go, validateLimit.
    """
    for owner, cohort, parent in parents(facts.cluster):
        refused = (
            ("borrowingLimit", "lendingLimit") if parent == "parentName" else ("lendingLimit",)
        )
        for placed in () if cohort else quotas(owner):
            for field, _ in amounts(placed.quota):
                if field in refused:
                    yield Hit(
                        RULE,
                        f"{owner} has a {field} for {placed.resource} but belongs to no cohort, "
                        f"which Kueue refuses; write {cohort_field(owner)}, or remove {field}",
                        placed.at / field,
                        meant=joined(facts.cluster, owner),
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
