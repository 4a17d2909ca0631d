"""A memory quota is only a few bytes, because its unit is missing."""

from policygen.lint.kueue.quotas import every_quota, lacks_unit, owners
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity, written


def check(facts: Facts) -> Hits:
    """An amount below 1Mi was meant in another unit. Source: apimachinery, resource.Quantity."""
    for placed in every_quota(owners(facts.cluster)):
        if not lacks_unit(placed.quota):
            continue
        at, amount = placed.at / "nominalQuota", placed.quota.nominal_quota
        yield Hit(
            RULE,
            f"{placed.owner} has a quota of {amount} bytes of {placed.resource} in flavor "
            f"{placed.flavor}, which is too small for any job; write a unit, such as {amount}Gi",
            at,
            meant=written(at, f"{amount}Gi"),
        )


RULE = ObjectRule(
    "memory-quota-without-unit",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Add the unit to the quantity, such as 100Gi.",
    judges=("ClusterQueue", "Cohort"),
    check=check,
)
