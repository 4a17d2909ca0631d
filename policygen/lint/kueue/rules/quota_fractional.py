"""A quota is a fraction of a resource that Kueue counts only in integers."""

import math
from fractions import Fraction

from policygen.core.amounts import BYTES, amount_of, without_milli, written
from policygen.core.finding import At
from policygen.lint.kueue.quotas import amounts, every_quota, owners
from policygen.lint.rule import Edit, Facts, Family, Fix, Hit, Hits, ObjectRule, Severity, Verb


def check(facts: Facts) -> Hits:
    """Kueue counts only cpu in thousandths, and rounds every other resource up to an integer.

    Source: pkg/resources/amount.go, AmountFromQuantity.
    """
    for placed in every_quota(owners(facts.cluster)):
        for field, amount in amounts(placed.quota):
            if placed.resource != "cpu" and amount.denominator != 1:
                yield Hit(
                    RULE,
                    f"{placed.owner} has {field} {amount_of(placed.resource, amount)}, which "
                    f"Kueue rounds up to {math.ceil(amount)}; write an integer",
                    placed.at / field,
                    edits=_edits(placed.at / field, placed.resource, math.ceil(amount)),
                    meant=_meant(placed.at / field, placed.resource, amount),
                )


def _edits(at: At, resource: str, rounded: int) -> tuple[Edit, ...]:
    """Write the amount that Kueue counts; no edits for bytes, whose intended unit is not known."""
    if resource in BYTES or rounded <= 0:
        return ()
    return (Edit(Verb.REWRITE, at, written(resource, Fraction(rounded))),)


def _meant(at: At, resource: str, amount: Fraction) -> tuple[Edit, ...]:
    """The amount without the unit m; nothing for bytes."""
    number = without_milli(amount)
    if resource in BYTES or number is None:
        return ()
    return (Edit(Verb.REWRITE, at, written(resource, number)),)


RULE = ObjectRule(
    "quota-fractional",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write the quota as an integer.",
    judges=("ClusterQueue", "Cohort"),
    check=check,
    fix=Fix.SAFE,
)
