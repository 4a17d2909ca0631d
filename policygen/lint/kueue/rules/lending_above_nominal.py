"""A ClusterQueue may lend more than it has."""

from collections.abc import Iterator
from fractions import Fraction

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.core.amounts import shown
from policygen.lint.kueue.quotas import Placed, queues_alike, where
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Of a Cohort it is right: there the limit bounds all that is below it.

    Source: pkg/webhooks/clusterqueue_webhook.go, validateLendingLimit.
    """
    for it in where(facts.cluster.derive(queues_alike), _lends_more):
        lent, own = it.quota.lending_limit or Fraction(0), it.quota.nominal_quota
        yield Hit(
            RULE,
            f"{it.owner} lends up to {shown(it.resource, lent)} {it.resource} and has "
            f"{shown(it.resource, own)}, which is refused; write at most that",
            it.at / "lendingLimit",
            (it.at / "nominalQuota",),
        )


def _lends_more(it: Placed) -> bool:
    lent, own = it.quota.lending_limit, it.quota.nominal_quota
    return lent is not None and lent > own >= 0


RULE = ObjectRule(
    "lending-above-nominal",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    judges=("ClusterQueue",),
    check=check,
)
