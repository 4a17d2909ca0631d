"""A number is beyond the bounds of its field."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.core.server_refusals import hits
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Source: what running servers serve, `schemas/cluster`."""
    yield from hits(RULE, facts, "out-of-range")


RULE = ObjectRule(
    "number-out-of-range", Severity.ERROR, Family.INVALID, __doc__, judges=(), check=check
)
