"""A ResourceQuota has an amount below 0, or a part of what only comes whole."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.core import accelerators
from policygen.lint.core.amounts import shown
from policygen.lint.core.standard_resources import known_to_quota, whole
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """A GPU's bare name is `gpu-quota-binds-nothing`, whatever its amount.

    Source: pkg/apis/core/validation/validation.go, ValidateResourceQuantityValue.
    """
    for quota in facts.cluster.resource_quotas:
        for name, amount in quota.it.hard.items():
            if not known_to_quota(name):
                continue
            part = amount.denominator != 1 and whole(name) and not accelerators.is_one(name)
            if amount < 0 or part:
                kind = "a whole number" if part else "0 or more"
                yield Hit(
                    RULE,
                    f"{quota} allows {shown(name, amount)} {name}, which is refused; write {kind}",
                    quota.at.to("spec", "hard", name),
                )


RULE = ObjectRule(
    "quota-amount-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    judges=("ResourceQuota",),
    check=check,
)
