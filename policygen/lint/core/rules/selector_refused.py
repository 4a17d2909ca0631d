"""A label selector has an operator, key or value that is not valid."""

from policygen.lint.core import selectors
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Source: k8s.io/apimachinery, pkg/apis/meta/v1/validation, ValidateLabelSelector."""
    for owner, prefix, selector in selectors.selectors(facts.cluster):
        for path, fault in selectors.faults(selector):
            yield Hit(RULE, f"{owner}: {fault}", owner.at.to(*prefix, *path))


RULE = ObjectRule(
    "selector-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write values for In and NotIn, and no values for Exists and DoesNotExist.",
    judges=("ClusterQueue", *selectors.OWNERS),
    check=check,
)
