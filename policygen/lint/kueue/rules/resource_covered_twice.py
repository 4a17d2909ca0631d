"""A ClusterQueue or Cohort covers a resource twice."""

from collections.abc import Iterator

from policygen.core.finding import Path, Severity
from policygen.lint.kueue.quotas import owners_alike
from policygen.lint.rule import Claim, Facts, Family, Rule


def check(facts: Facts) -> Iterator[Claim]:
    """Source: pkg/webhooks/clusterqueue_webhook.go, validateResourceGroups."""
    for alike in facts.cluster.derive(owners_alike):
        seen: dict[str, Path] = {}
        for i, group in enumerate(alike.groups):
            for j, name in enumerate(group.covered_resources):
                here = (i, "coveredResources", j)
                first = seen.setdefault(name, here)
                if first == here:
                    continue
                for owner, root in alike.at():
                    yield Claim(
                        f"{owner} covers {name} twice, which is refused; a resource is in one "
                        "group, with all the flavors that it has",
                        root.to(*here),
                        (root.to(*first),),
                    )


RULE = Rule(
    "resource-covered-twice",
    Severity.ERROR,
    Family.INVALID,
    judges=("ClusterQueue", "Cohort"),
    check=check,
)
