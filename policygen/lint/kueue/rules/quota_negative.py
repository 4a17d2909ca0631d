"""A nominalQuota, borrowingLimit or lendingLimit is below 0."""

from policygen.core.amounts import amount_of
from policygen.lint.kueue.quotas import amounts, every_quota, owners
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Source: pkg/webhooks/clusterqueue_webhook.go, validateResourceQuantity."""
    for placed in every_quota(owners(facts.cluster)):
        for field, amount in amounts(placed.quota):
            if amount < 0:
                yield Hit(
                    RULE,
                    f"{placed.owner} has {field} {amount_of(placed.resource, amount)}, which "
                    "Kueue refuses; write 0 or more",
                    placed.at / field,
                )


RULE = ObjectRule(
    "quota-negative",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write a quota or limit of 0 or more.",
    judges=("ClusterQueue", "Cohort"),
    check=check,
)
