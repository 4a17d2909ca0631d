"""An object breaks a rule that its CRD states in CEL."""

from collections.abc import Iterator

from policygen.core.finding import Severity
from policygen.lint.core.server_refusals import told
from policygen.lint.rule import Claim, Facts, Family, Rule


def check(facts: Facts) -> Iterator[Claim]:
    """Source: what running servers serve, `schemas/cluster`."""
    yield from told(facts, "crd-rule-broken")


RULE = Rule("crd-rule-broken", Severity.ERROR, Family.INVALID, judges=(), check=check)
