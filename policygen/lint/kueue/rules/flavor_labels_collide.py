"""Flavors in different resource groups set the same node label to different values."""

from policygen.kubernetes.kueue import ResourceFlavorView, ResourceGroup
from policygen.kubernetes.table import Entry
from policygen.lint.kueue.quotas import groups_at
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Each group chooses its own flavor, and Kueue merges their labels in no fixed order.

    Groups with a resource in common are refused, which another rule reports.
    Kueue charges the pod to one pool, but it runs on another. Source: pkg/podset/podset.go,
    FromAssignment; issue 14409.
    """
    known = facts.cluster.flavors
    for queue in facts.cluster.cluster_queues:
        seen: dict[str, tuple[int, str, Entry[ResourceFlavorView]]] = {}
        for i, group in enumerate(queue.fields.resource_groups):
            for j, quotas in enumerate(group.flavors):
                flavor = known.get(quotas.name)
                if flavor is None:
                    continue
                for key, value in flavor.fields.node_labels.items():
                    first = seen.setdefault(key, (i, value, flavor))
                    if first[1] == value or _related(queue.fields.resource_groups, first[0], i):
                        continue
                    at = groups_at(queue, i, "flavors", j, "name")
                    yield Hit(
                        RULE,
                        f"{queue} has flavors {first[2].name} and {quotas.name} in different "
                        f"groups, but these flavors set label {key} to {first[1]} and {value}; put "
                        "the resources of both flavors into one group",
                        at,
                        related=tuple(it.at.to("spec", "nodeLabels") for it in (first[2], flavor)),
                    )


def _related(groups: tuple[ResourceGroup, ...], one: int, other: int) -> bool:
    """True if two groups are the same, or both cover a resource."""
    both = set(groups[one].covered_resources) & set(groups[other].covered_resources)
    return one == other or bool(both)


RULE = ObjectRule(
    "flavor-labels-collide",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Put resources that one pod requests into the same resource group.",
    judges=("ClusterQueue",),
    check=check,
    reads=("ResourceFlavor",),
)
