"""A quota is a part of something that only comes whole."""

import math
from collections.abc import Iterator

from policygen.finding import Severity
from policygen.lint.amounts import shown
from policygen.lint.quotas import amounts, owners, quotas
from policygen.lint.rule import Claim, Facts, Family, Rule


def check(facts: Facts) -> Iterator[Claim]:
    """Only cpu is counted in thousandths; everything else is rounded up to whole units.

    Source: pkg/resources/amount.go, AmountFromQuantity.
    """
    for owner in owners(facts.cluster):
        for it in quotas(owner):
            for field, amount in amounts(it.quota):
                if it.resource != "cpu" and amount.denominator != 1:
                    yield Claim(
                        f"{owner} has {field} {shown(it.resource, amount)} for {it.resource}, which "
                        f"Kueue counts as {math.ceil(amount)}; write whole units",
                        it.at / field,
                    )


RULE = Rule(
    "quota-fractional",
    Severity.WARNING,
    Family.INERT,
    judges=("ClusterQueue", "Cohort"),
    check=check,
)
