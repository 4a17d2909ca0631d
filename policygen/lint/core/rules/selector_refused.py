"""A label selector has an operator, key or value that it cannot have."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.core import selectors
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Source: k8s.io/apimachinery, pkg/apis/meta/v1/validation, ValidateLabelSelector."""
    for who, way, it in selectors.selectors(facts.cluster):
        for path, fault in selectors.faults(it):
            yield Hit(RULE, f"{who}: {fault}", who.at.to(*way, *path))


RULE = ObjectRule(
    "selector-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    judges=("ClusterQueue", *selectors.OWNERS),
    check=check,
)
