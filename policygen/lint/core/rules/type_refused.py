"""A field has a type that the server does not take."""

from collections.abc import Iterator

from policygen.core.finding import Severity
from policygen.lint.core.server_refusals import told
from policygen.lint.rule import Claim, Facts, Family, Fix, Rule


def check(facts: Facts) -> Iterator[Claim]:
    """Source: what running servers serve, `schemas/cluster`."""
    yield from told(facts, "wrong-type")


RULE = Rule("type-refused", Severity.ERROR, Family.INVALID, judges=(), check=check, fix=Fix.SAFE)
