"""Rules for tests that need findings, but no rule of the registry."""

from functools import cache

from policygen.core.rule import Family, Rule, Severity


@cache
def rule(name="r", severity=Severity.ERROR, family=Family.INERT):
    """A rule; the same object for the same arguments, as in the registry."""
    return Rule(name, severity, family, f"about {name}")
