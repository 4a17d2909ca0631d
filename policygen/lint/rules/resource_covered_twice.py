"""A ClusterQueue or Cohort covers a resource twice."""

from collections.abc import Iterator

from policygen.finding import At, Severity
from policygen.lint.quotas import owners
from policygen.lint.rule import Claim, Facts, Family, Rule


def check(facts: Facts) -> Iterator[Claim]:
    """Source: pkg/webhooks/clusterqueue_webhook.go, validateResourceGroups."""
    for owner in owners(facts.cluster):
        seen: dict[str, At] = {}
        for i, group in enumerate(owner.it.resource_groups):
            for j, name in enumerate(group.covered_resources):
                at = owner.at.to("spec", "resourceGroups", i, "coveredResources", j)
                if name in seen:
                    yield Claim(
                        f"{owner} covers {name} twice, which is refused; a resource is in one "
                        "group, with all the flavors that it has",
                        at,
                        (seen[name],),
                    )
                seen.setdefault(name, at)


RULE = Rule(
    "resource-covered-twice",
    Severity.ERROR,
    Family.INVALID,
    judges=("ClusterQueue", "Cohort"),
    check=check,
)
