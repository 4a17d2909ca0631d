"""A field has a value that is none of those that it can have."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.core.server_refusals import hits_of_known_releases
from policygen.lint.rule import Facts, Family, Fix, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Source: what running servers serve, `schemas/cluster`."""
    yield from hits_of_known_releases(RULE, facts, "unsupported-value")


RULE = ObjectRule(
    "value-unsupported",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    judges=(),
    check=check,
    fix=Fix.SAFE,
)
