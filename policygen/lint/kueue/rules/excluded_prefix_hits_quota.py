"""Kueue's Configuration leaves out of its accounts what a queue has quota for."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.kubernetes.cluster import Cluster
from policygen.lint.kueue.configuration import all_settings
from policygen.lint.kueue.quotas import owners
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """A prefix is compared with the beginning of every name: `nvidia.com/` takes the GPUs along.

    Source: pkg/workload/workload.go, dropExcludedResources.
    """
    known = facts.cluster.derive(_covered)
    for entry, rules in all_settings(facts):
        for i, prefix in enumerate(rules.excluded):
            hit = next((name for name in sorted(known) if name.startswith(prefix)), None)
            if hit is not None:
                yield Hit(
                    RULE,
                    f'excludeResourcePrefixes has "{prefix}", so the quota of {known[hit]} for '
                    f"{hit} binds nothing; write the full names of what is to be left out",
                    entry.at.to("resources", "excludeResourcePrefixes", i),
                )


def _covered(cluster: Cluster) -> dict[str, str]:
    """The resources that have a quota, and who has it first."""
    found: dict[str, str] = {}
    for owner in owners(cluster):
        for group in owner.it.resource_groups:
            for name in group.covered_resources:
                found.setdefault(name, str(owner))
    return found


RULE = ObjectRule(
    "excluded-prefix-hits-quota",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=("Configuration",),
    check=check,
    reads=("ClusterQueue", "Cohort"),
)
