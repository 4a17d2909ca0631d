"""A prefix in excludeResourcePrefixes matches a resource that has quota."""

from policygen.kubernetes.cluster import Cluster
from policygen.lint.kueue.configuration import all_settings
from policygen.lint.kueue.quotas import covered_resources, owners
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """A prefix excludes every name that begins with it: `nvidia.com/` also excludes the GPUs.

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
                    f"{hit} has no effect; write the full names of the resources to exclude",
                    entry.at.to("resources", "excludeResourcePrefixes", i),
                )


def _covered(cluster: Cluster) -> dict[str, str]:
    """The resources that have quota, and the first object that has it."""
    found: dict[str, str] = {}
    for owner in owners(cluster):
        for _, name in covered_resources(owner):
            found.setdefault(name, str(owner))
    return found


RULE = ObjectRule(
    "quota-resource-excluded",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Write the full names of the resources in excludeResourcePrefixes.",
    judges=("Configuration",),
    check=check,
    reads=("ClusterQueue", "Cohort"),
    aliases=("excluded-prefix-hits-quota",),
)
