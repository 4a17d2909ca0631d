"""A ClusterQueue or Cohort has a flavor in two resource groups."""

from collections.abc import Iterator

from policygen.core.finding import Severity
from policygen.lint.kueue.quotas import owners_alike
from policygen.lint.rule import Claim, Facts, Family, Rule


def check(facts: Facts) -> Iterator[Claim]:
    """Twice in one group is refused by the CRD already, which `list-entry-twice` tells.

    Source: pkg/webhooks/clusterqueue_webhook.go, validateResourceGroups.
    """
    for alike in facts.cluster.derive(owners_alike):
        seen: dict[str, tuple[int, int]] = {}
        for i, group in enumerate(alike.groups):
            for j, flavor in enumerate(group.flavors):
                first, number = seen.setdefault(flavor.name, (i, j))
                for owner, at in alike.at() if first != i else ():
                    yield Claim(
                        f"{owner} has flavor {flavor.name} in two groups, which is refused; cover "
                        "the resources of its nodes in one group",
                        at.to(i, "flavors", j, "name"),
                        (at.to(first, "flavors", number, "name"),),
                    )


RULE = Rule(
    "flavor-in-two-groups",
    Severity.ERROR,
    Family.INVALID,
    judges=("ClusterQueue", "Cohort"),
    check=check,
)
