"""A number is beyond the bounds of its field."""

from collections.abc import Iterator

from policygen.core.finding import Severity
from policygen.lint.core.server_refusals import told
from policygen.lint.rule import Claim, Facts, Family, Rule


def check(facts: Facts) -> Iterator[Claim]:
    """Source: what running servers serve, `schemas/cluster`."""
    yield from told(facts, "out-of-range")


RULE = Rule("number-out-of-range", Severity.ERROR, Family.INVALID, judges=(), check=check)
