"""A field has a name that its kind does not have."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.core.server_refusals import hits_of_known_releases
from policygen.lint.rule import Facts, Family, Fix, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """What v1beta1 of Kueue called otherwise can be mended.

    Source: what running servers serve, `schemas/cluster`.
    """
    yield from hits_of_known_releases(RULE, facts, "unknown-field")


RULE = ObjectRule(
    "field-unknown",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    judges=(),
    check=check,
    fix=Fix.UNSAFE,
)
