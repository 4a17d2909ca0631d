"""A ResourceQuota has a negative amount, or a fraction of an integer resource."""

from policygen.core.amounts import amount_of
from policygen.core.standard_resources import known_to_quota, whole
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Source: pkg/apis/core/validation/validation.go, ValidateResourceQuantityValue."""
    for quota in facts.cluster.resource_quotas:
        for name, amount in quota.fields.hard.items():
            if not known_to_quota(name):
                continue
            is_part = amount.denominator != 1 and whole(name)
            if amount < 0 or is_part:
                yield Hit(
                    RULE,
                    f"{quota} allows {amount_of(name, amount)}, which is refused; write an integer"
                    if is_part
                    else f"{quota} allows {amount_of(name, amount)}, which is refused; write 0 or more",
                    quota.at.to("spec", "hard", name),
                )


RULE = ObjectRule(
    "quota-amount-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write an amount of 0 or more; for objects, write an integer.",
    judges=("ResourceQuota",),
    check=check,
)
