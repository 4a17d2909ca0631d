"""The fair-sharing weight of a ClusterQueue or Cohort is negative or too close to 0."""

from fractions import Fraction

from policygen.lint.kueue.quotas import owners
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_LEAST = Fraction(1, 10**9)


def check(facts: Facts) -> Hits:
    """Kueue compares with 1n, not with 0 as in its message, and accepts 0.

    `weight-not-positive` reports 0.

    Source: pkg/webhooks/common.go, validateFairSharing.
    """
    for owner in owners(facts.cluster):
        sharing = owner.fields.fair_sharing
        if sharing is not None and sharing.weight <= _LEAST and sharing.weight != 0:
            yield Hit(
                RULE,
                f"fairSharing.weight of {owner} is negative or too close to 0, so Kueue refuses "
                "the object; write a larger weight, such as 1",
                owner.at.to("spec", "fairSharing", "weight"),
            )


RULE = ObjectRule(
    "fair-sharing-weight-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write a weight above 0, such as 1.",
    judges=("ClusterQueue", "Cohort"),
    check=check,
)
