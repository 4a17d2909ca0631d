"""A field is missing that the server requires."""

from collections.abc import Iterator

from policygen.finding import Severity
from policygen.lint.refused import told
from policygen.lint.rule import Claim, Facts, Family, Rule


def check(facts: Facts) -> Iterator[Claim]:
    """Source: what running servers serve, `schemas/cluster`."""
    yield from told(facts, "missing-field")


RULE = Rule("field-missing", Severity.ERROR, Family.INVALID, judges=(), check=check)
