"""A ClusterQueue or Cohort covers what cannot be the name of a resource."""

from collections.abc import Iterator

from policygen.finding import Severity
from policygen.lint.quotas import owners
from policygen.lint.rule import Claim, Facts, Family, Rule
from policygen.spec.labels import key_fault


def check(facts: Facts) -> Iterator[Claim]:
    """Source: pkg/webhooks/common.go, validateResourceName."""
    for owner in owners(facts.cluster):
        for i, group in enumerate(owner.it.resource_groups):
            for j, name in enumerate(group.covered_resources):
                if fault := key_fault(name):
                    yield Claim(
                        f"{owner}: {fault.replace('label key', 'name of a resource')}",
                        owner.at.to("spec", "resourceGroups", i, "coveredResources", j),
                    )


RULE = Rule(
    "covered-resource-refused",
    Severity.ERROR,
    Family.INVALID,
    judges=("ClusterQueue", "Cohort"),
    check=check,
)
