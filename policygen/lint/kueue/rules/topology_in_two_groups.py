"""A ClusterQueue has flavors with a topology in more than one resource group."""

from policygen.kubernetes.kueue import ResourceFlavorView
from policygen.kubernetes.table import Entry
from policygen.lint.kueue.quotas import groups_at
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """A pod that requests resources of both groups gets two such flavors, which is an error.

    Source: pkg/scheduler/flavorassigner/tas_flavorassigner.go, onlyTASFlavor.
    """
    known = facts.cluster.flavors
    for queue in facts.cluster.cluster_queues:
        first: Entry[ResourceFlavorView] | None = None
        for i, group in enumerate(queue.fields.resource_groups):
            aware = [
                (j, flavor)
                for j, quotas in enumerate(group.flavors)
                if (flavor := known.get(quotas.name)) is not None and flavor.fields.topology_name
            ]
            if aware and first:
                j, second = aware[0]
                at = groups_at(queue, i, "flavors", j, "name")
                yield Hit(
                    RULE,
                    f"{queue} has flavors {first.name} and {second.name} with a topology in different "
                    "groups, but a pod can use only one such flavor; put the resources of both flavors into one group",
                    at,
                    related=tuple(it.at.to("spec", "topologyName") for it in (first, second)),
                )
            elif aware:
                first = aware[0][1]


RULE = ObjectRule(
    "topology-in-two-groups",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Put the resources of these flavors into one resource group.",
    judges=("ClusterQueue",),
    check=check,
    reads=("ResourceFlavor",),
)
