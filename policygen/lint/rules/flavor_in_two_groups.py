"""A ClusterQueue or Cohort has a flavor in two resource groups."""

from collections.abc import Iterator

from policygen.finding import At, Severity
from policygen.lint.quotas import owners
from policygen.lint.rule import Claim, Facts, Family, Rule


def check(facts: Facts) -> Iterator[Claim]:
    """Twice in one group is refused by the CRD already, which `list-entry-twice` tells.

    Source: pkg/webhooks/clusterqueue_webhook.go, validateResourceGroups.
    """
    for owner in owners(facts.cluster):
        seen: dict[str, tuple[int, At]] = {}
        for i, group in enumerate(owner.it.resource_groups):
            for j, flavor in enumerate(group.flavors):
                at = owner.at.to("spec", "resourceGroups", i, "flavors", j, "name")
                first, place = seen.setdefault(flavor.name, (i, at))
                if first != i:
                    yield Claim(
                        f"{owner} has flavor {flavor.name} in two groups, which is refused; cover "
                        "the resources of its nodes in one group",
                        at,
                        (place,),
                    )


RULE = Rule(
    "flavor-in-two-groups",
    Severity.ERROR,
    Family.INVALID,
    judges=("ClusterQueue", "Cohort"),
    check=check,
)
