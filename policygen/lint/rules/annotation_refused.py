"""An annotation has a key that Kubernetes does not take, or they are too long together."""

from collections.abc import Iterator

from policygen.finding import Severity
from policygen.lint.refused import told
from policygen.lint.rule import Claim, Facts, Family, Rule


def check(facts: Facts) -> Iterator[Claim]:
    """Source: what running servers serve, `schemas/cluster`."""
    yield from told(facts, "bad-annotation")


RULE = Rule("annotation-refused", Severity.ERROR, Family.INVALID, judges=(), check=check)
