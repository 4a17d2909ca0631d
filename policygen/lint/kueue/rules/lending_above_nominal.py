"""A ClusterQueue has a lendingLimit above its nominalQuota."""

from fractions import Fraction

from policygen.core.amounts import amount_of, readable, written
from policygen.lint.kueue.quotas import PlacedQuota, every_quota
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """A Cohort may have such a limit: there it applies to everything below the Cohort.

    Source: pkg/webhooks/clusterqueue_webhook.go, validateLendingLimit.
    """
    for placed in filter(_lends_more, every_quota(facts.cluster.cluster_queues)):
        lent, own = placed.quota.lending_limit or Fraction(0), placed.quota.nominal_quota
        yield Hit(
            RULE,
            f"{placed.owner} has lendingLimit {amount_of(placed.resource, lent, own)} above "
            f"nominalQuota {readable(placed.resource, own, lent)}, which Kueue refuses; write at "
            f"most {written(placed.resource, own)}",
            placed.at / "lendingLimit",
            (placed.at / "nominalQuota",),
        )


def _lends_more(placed: PlacedQuota) -> bool:
    lent, own = placed.quota.lending_limit, placed.quota.nominal_quota
    return lent is not None and lent > own >= 0


RULE = ObjectRule(
    "lending-above-nominal",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Set lendingLimit to at most the nominalQuota, or remove lendingLimit.",
    judges=("ClusterQueue",),
    check=check,
)
