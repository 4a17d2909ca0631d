"""A ClusterQueue or Cohort covers a resource in two groups."""

from policygen.core.finding import At
from policygen.lint.kueue.quotas import covered_resources, owners
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Source: pkg/webhooks/clusterqueue_webhook.go, validateResourceGroups."""
    for owner in owners(facts.cluster):
        seen: dict[str, At] = {}
        for at, name in covered_resources(owner):
            first = seen.setdefault(name, at)
            if first != at:
                yield Hit(
                    RULE,
                    f"{owner} covers {name} twice, which Kueue refuses; put all flavors that have "
                    f"{name} into one group",
                    at,
                    (first,),
                )


RULE = ObjectRule(
    "resource-covered-twice",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write one resource group with one flavor for each kind of node.",
    judges=("ClusterQueue", "Cohort"),
    check=check,
)
