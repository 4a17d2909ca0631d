"""A field has a type that the server does not take."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.core.server_refusals import hits
from policygen.lint.rule import Facts, Family, Fix, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Source: what running servers serve, `schemas/cluster`."""
    yield from hits(RULE, facts, "wrong-type")


RULE = ObjectRule(
    "type-refused", Severity.ERROR, Family.INVALID, __doc__, judges=(), check=check, fix=Fix.SAFE
)
