"""A quota of memory is a few bytes."""

from collections.abc import Iterator

from policygen.finding import Severity
from policygen.lint.quotas import owners, quotas
from policygen.lint.rule import Claim, Facts, Family, Rule

_SMALL = 2**20


def check(facts: Facts) -> Iterator[Claim]:
    """Less than 1Mi was meant in another unit. Source: apimachinery, resource.Quantity."""
    for owner in owners(facts.cluster):
        for it in quotas(owner):
            amount = it.quota.nominal_quota
            if it.resource in ("memory", "ephemeral-storage") and 0 < amount < _SMALL:
                if amount.denominator != 1:
                    continue  # quota-fractional says it
                yield Claim(
                    f"{owner} has {amount} bytes of {it.resource} in flavor {it.flavor}, which no "
                    f"job fits in; write a unit, such as {amount}Gi",
                    it.at / "nominalQuota",
                )


RULE = Rule(
    "memory-quota-without-unit",
    Severity.ERROR,
    Family.INERT,
    judges=("ClusterQueue", "Cohort"),
    check=check,
)
