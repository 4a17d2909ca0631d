"""A field has a name that its kind does not have."""

from collections.abc import Iterator

from policygen.core.finding import Severity
from policygen.lint.core.server_refusals import told_of_known_releases
from policygen.lint.rule import Claim, Facts, Family, Fix, Rule


def check(facts: Facts) -> Iterator[Claim]:
    """What v1beta1 of Kueue called otherwise can be mended.

    Source: what running servers serve, `schemas/cluster`.
    """
    yield from told_of_known_releases(facts, "unknown-field")


RULE = Rule(
    "field-unknown",
    Severity.ERROR,
    Family.INVALID,
    judges=(),
    check=check,
    fix=Fix.UNSAFE,
)
