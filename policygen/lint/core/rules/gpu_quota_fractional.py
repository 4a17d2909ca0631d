"""A ResourceQuota has a fraction of a GPU, which is rounded down to an integer."""

from fractions import Fraction

from policygen.kubernetes import accelerators
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity, written


def check(facts: Facts) -> Hits:
    """The server accepts the quota, but pods request integers.

    Source: pkg/apis/core/helper/helpers.go, IsExtendedResourceName, which a name under `requests.` is not.
    """
    for quota in facts.cluster.resource_quotas:
        for name, amount in quota.fields.hard.items():
            bare = name.removeprefix("requests.")
            if bare != name and accelerators.is_one(bare) and amount.denominator != 1:
                yield Hit(
                    RULE,
                    f"{quota} allows {float(amount):g} {bare}, but pods request integers, so the "
                    f"quota allows only {int(amount)}; write an integer",
                    quota.at.to("spec", "hard", name),
                    meant=written(quota.at.to("spec", "hard", name), _without_unit(amount)),
                )


def _without_unit(amount: Fraction) -> str:
    """The amount without the unit m, if it is an integer then; else empty."""
    number = amount * 1000
    return f"{number}" if number.denominator == 1 else ""


RULE = ObjectRule(
    "gpu-quota-fractional",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Write an integer, and share GPUs by MIG or time-slicing.",
    judges=("ResourceQuota",),
    check=check,
)
