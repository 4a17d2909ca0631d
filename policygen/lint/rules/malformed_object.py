"""A field has a type that the server does not take."""

from collections.abc import Iterator

from policygen.finding import Severity
from policygen.lint.rule import Claim, Facts, Family, Rule


def check(facts: Facts) -> Iterator[Claim]:
    """One claim per object: what stands behind the first wrong field was not read."""
    for it in facts.cluster.malformed:
        yield Claim(f"{it.object}: {it.message}; mend it", it.object.at.to(*it.path))


RULE = Rule("malformed-object", Severity.ERROR, Family.INVALID, judges=(), check=check)
