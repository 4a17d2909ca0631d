"""A memory quota is only a few bytes, because its unit is missing."""

from policygen.core.amounts import BYTES
from policygen.core.quantity import MEBIBYTE
from policygen.lint.kueue.quotas import PlacedQuota, every_quota, owners
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """An amount below 1Mi was meant in another unit. Source: apimachinery, resource.Quantity."""
    for placed in filter(_is_small, every_quota(owners(facts.cluster))):
        amount = placed.quota.nominal_quota
        yield Hit(
            RULE,
            f"{placed.owner} has a quota of {amount} bytes of {placed.resource} in flavor "
            f"{placed.flavor}, which is too small for any job; write a unit, such as {amount}Gi",
            placed.at / "nominalQuota",
        )


def _is_small(placed: PlacedQuota) -> bool:
    amount = placed.quota.nominal_quota
    integer = amount.denominator == 1  # quota-fractional reports the others
    return placed.resource in BYTES and 0 < amount < MEBIBYTE and integer


RULE = ObjectRule(
    "memory-quota-without-unit",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Add the unit to the quantity, such as 100Gi.",
    judges=("ClusterQueue", "Cohort"),
    check=check,
)
