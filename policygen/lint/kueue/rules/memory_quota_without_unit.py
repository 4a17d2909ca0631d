"""A quota of memory is a few bytes."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.quantity import MEBIBYTE
from policygen.core.rule import Severity
from policygen.lint.core.amounts import BYTES
from policygen.lint.kueue.quotas import Placed, owners_alike, where
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Less than 1Mi was meant in another unit. Source: apimachinery, resource.Quantity."""
    for it in where(facts.cluster.derive(owners_alike), _is_small):
        amount = it.quota.nominal_quota
        yield Hit(
            RULE,
            f"{it.owner} has {amount} bytes of {it.resource} in flavor {it.flavor}, which no "
            f"job fits in; write a unit, such as {amount}Gi",
            it.at / "nominalQuota",
        )


def _is_small(it: Placed) -> bool:
    amount = it.quota.nominal_quota
    whole = amount.denominator == 1  # else quota-fractional says it
    return it.resource in BYTES and 0 < amount < MEBIBYTE and whole


RULE = ObjectRule(
    "memory-quota-without-unit",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=("ClusterQueue", "Cohort"),
    check=check,
)
