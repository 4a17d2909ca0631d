"""A label selector has an operator, key or value that it cannot have."""

from collections.abc import Iterator

from policygen.core.finding import Severity
from policygen.lint.core import selectors
from policygen.lint.rule import Claim, Facts, Family, Rule


def check(facts: Facts) -> Iterator[Claim]:
    """Source: k8s.io/apimachinery, pkg/apis/meta/v1/validation, ValidateLabelSelector."""
    for who, way, it in selectors.selectors(facts.cluster):
        for path, fault in selectors.faults(it):
            yield Claim(f"{who}: {fault}", who.at.to(*way, *path))


RULE = Rule(
    "selector-refused",
    Severity.ERROR,
    Family.INVALID,
    judges=("ClusterQueue", *selectors.OWNERS),
    check=check,
)
