"""A ClusterQueue or Cohort covers what cannot be the name of a resource."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.label_grammar import key_fault
from policygen.core.rule import Severity
from policygen.lint.kueue.quotas import owners_alike
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Source: pkg/webhooks/common.go, validateResourceName."""
    for alike in facts.cluster.derive(owners_alike):
        for i, group in enumerate(alike.groups):
            for j, name in enumerate(group.covered_resources):
                fault = key_fault(name)
                if fault is None:
                    continue
                said = fault.replace("label key", "name of a resource")
                for owner, at in alike.at(i, "coveredResources", j):
                    yield Hit(RULE, f"{owner}: {said}", at)


RULE = ObjectRule(
    "covered-resource-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    judges=("ClusterQueue", "Cohort"),
    check=check,
)
