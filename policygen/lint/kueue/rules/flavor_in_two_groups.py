"""A ClusterQueue or Cohort lists a flavor in two resource groups."""

from policygen.lint.kueue.quotas import groups_at, owners
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """The CRD already refuses a flavor twice in one group, which `duplicate-entry` reports.

    Source: pkg/webhooks/clusterqueue_webhook.go, validateResourceGroups.
    """
    for owner in owners(facts.cluster):
        seen: dict[str, tuple[int, int]] = {}
        for i, group in enumerate(owner.fields.resource_groups):
            for j, flavor in enumerate(group.flavors):
                first, number = seen.setdefault(flavor.name, (i, j))
                if first != i:
                    at = groups_at(owner)
                    yield Hit(
                        RULE,
                        f"{owner} lists flavor {flavor.name} in two groups, which Kueue refuses; "
                        "cover all resources of the flavor in one group",
                        at.to(i, "flavors", j, "name"),
                        (at.to(first, "flavors", number, "name"),),
                    )


RULE = ObjectRule(
    "flavor-in-two-groups",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Cover all resources of a flavor in one resource group.",
    judges=("ClusterQueue", "Cohort"),
    check=check,
)
