"""A field has a value that is none of those that it can have."""

from collections.abc import Iterator

from policygen.core.finding import Severity
from policygen.lint.core.server_refusals import told_of_known_releases
from policygen.lint.rule import Claim, Facts, Family, Fix, Rule


def check(facts: Facts) -> Iterator[Claim]:
    """Source: what running servers serve, `schemas/cluster`."""
    yield from told_of_known_releases(facts, "unsupported-value")


RULE = Rule(
    "value-unsupported", Severity.ERROR, Family.INVALID, judges=(), check=check, fix=Fix.SAFE
)
