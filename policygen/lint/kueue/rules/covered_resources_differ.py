"""A flavor and its resource group do not list the same resources in the same order."""

from policygen.lint.kueue.quotas import groups_at, owners
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Another number of resources, or one twice, is refused by the CRD and reported by other rules.

    Source: pkg/webhooks/clusterqueue_webhook.go, validateFlavorQuotas.
    """
    for owner in owners(facts.cluster):
        for i, group in enumerate(owner.fields.resource_groups):
            covered = group.covered_resources
            for j, flavor in enumerate(group.flavors):
                names = tuple(quota.name for quota in flavor.resources)
                if names == covered or not len({*names}) == len(names) == len(covered):
                    continue
                first = next(k for k, name in enumerate(names) if name != covered[k])
                at = groups_at(owner, i)
                yield Hit(
                    RULE,
                    f"coveredResources of {owner} lists {', '.join(covered)}, but flavor "
                    f"{flavor.name} lists {', '.join(names)}, which Kueue refuses; write the same "
                    "resources in the same order in both lists",
                    at.to("flavors", j, "resources", first, "name"),
                    (at / "coveredResources",),
                )


RULE = ObjectRule(
    "covered-resources-differ",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="List the same resources in the same order in coveredResources and in every flavor.",
    judges=("ClusterQueue", "Cohort"),
    check=check,
)
