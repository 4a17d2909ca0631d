"""The min, defaults and max of a LimitRange are not in ascending order."""

from policygen.lint.core.limit_range_amounts import faults
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """memory-without-unit reports an amount without a unit. Source: see lint/core/limit_range_amounts.py."""
    with_units = "memory-without-unit" in facts.run
    for entry in facts.cluster.limit_ranges:
        for i, item in enumerate(entry.fields.limits):
            at = entry.at.to("spec", "limits", i)
            for it in faults(item, at):
                if not (with_units and it.lacks_unit):
                    yield Hit(RULE, f"{entry}: {it.message}", it.at, meant=it.meant)


RULE = ObjectRule(
    "limit-range-amount-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write min, defaultRequest, default and max in ascending order.",
    judges=("LimitRange",),
    check=check,
    aliases=("limit-range-order",),
)
