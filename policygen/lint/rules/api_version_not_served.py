"""An object has an apiVersion or a kind that no server of the target serves."""

from collections.abc import Iterator

from policygen.finding import Severity
from policygen.lint.api_versions import fault
from policygen.lint.rule import Claim, Facts, Family, Rule


def check(facts: Facts) -> Iterator[Claim]:
    """The API server answers 404. Source: what running servers serve, `schemas/cluster`."""
    for it in facts.cluster.objects:
        wrong = fault(it, facts.target)
        if wrong:
            yield Claim(f"{it}: {wrong}", it.at / "apiVersion")


RULE = Rule("api-version-not-served", Severity.ERROR, Family.INVALID, judges=(), check=check)
