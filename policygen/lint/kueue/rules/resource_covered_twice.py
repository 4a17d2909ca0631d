"""A ClusterQueue or Cohort covers a resource in two groups."""

from policygen.core.finding import Path
from policygen.lint.kueue.quotas import groups_at, owners
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Source: pkg/webhooks/clusterqueue_webhook.go, validateResourceGroups."""
    for owner in owners(facts.cluster):
        seen: dict[str, Path] = {}
        for i, group in enumerate(owner.it.resource_groups):
            for j, name in enumerate(group.covered_resources):
                here = (i, "coveredResources", j)
                first = seen.setdefault(name, here)
                if first == here:
                    continue
                root = groups_at(owner)
                yield Hit(
                    RULE,
                    f"{owner} covers {name} twice, which Kueue refuses; write {name} in one "
                    "group, with all its flavors",
                    root.to(*here),
                    (root.to(*first),),
                )


RULE = ObjectRule(
    "resource-covered-twice",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write one group with one flavor for each kind of node.",
    judges=("ClusterQueue", "Cohort"),
    check=check,
)
