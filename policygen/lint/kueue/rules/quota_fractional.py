"""A quota is a part of something that only comes whole."""

import math
from collections.abc import Iterator
from fractions import Fraction

from policygen.core.finding import At, Edit, Hit, Verb
from policygen.core.rule import Severity
from policygen.lint.core.amounts import BYTES, shown, written
from policygen.lint.kueue.quotas import Placed, amounts, owners_alike, where
from policygen.lint.rule import Facts, Family, Fix, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Only cpu is counted in thousandths; everything else is rounded up to whole units.

    Source: pkg/resources/amount.go, AmountFromQuantity.
    """
    for it in where(facts.cluster.derive(owners_alike), _is_fractional):
        for field, amount in amounts(it.quota):
            if amount.denominator != 1:
                yield Hit(
                    RULE,
                    f"{it.owner} has {field} {shown(it.resource, amount)} for {it.resource}, which "
                    f"Kueue counts as {math.ceil(amount)}; write whole units",
                    it.at / field,
                    edits=_edits(it.at / field, it.resource, math.ceil(amount)),
                )


def _is_fractional(it: Placed) -> bool:
    return it.resource != "cpu" and any(each.denominator != 1 for _, each in amounts(it.quota))


def _edits(at: At, resource: str, whole: int) -> tuple[Edit, ...]:
    """What Kueue counts. Of bytes a part was a slip of the unit, and nobody knows which."""
    if resource in BYTES or whole <= 0:
        return ()
    return (Edit(Verb.REWRITE, at, written(resource, Fraction(whole))),)


RULE = ObjectRule(
    "quota-fractional",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=("ClusterQueue", "Cohort"),
    check=check,
    fix=Fix.SAFE,
)
