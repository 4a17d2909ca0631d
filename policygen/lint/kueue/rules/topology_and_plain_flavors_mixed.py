"""A resource group has flavors with and without a topology, so no job can use all of them."""

from policygen.lint.kueue.quotas import groups_at
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Jobs that request a topology skip the plain flavors, and all other jobs skip the rest.

    In a queue that has only flavors with a topology, every job can use them.
    Source: pkg/scheduler/flavorassigner/tas_flavorassigner.go, checkPodSetAndFlavorMatchForTAS.
    """
    known = facts.cluster.flavors
    for queue in facts.cluster.cluster_queues:
        for i, group in enumerate(queue.fields.resource_groups):
            found = [known.get(flavor.name) for flavor in group.flavors]
            aware = [flavor for flavor in found if flavor and flavor.fields.topology_name]
            plain = [flavor for flavor in found if flavor and not flavor.fields.topology_name]
            if aware and plain:
                at = groups_at(queue, i, "flavors")
                yield Hit(
                    RULE,
                    f"{queue} has flavor {aware[0].name} with a topology and flavor "
                    f"{plain[0].name} without a topology, so each job can use only one of these "
                    "flavors; write topologyName in both, or split the queue",
                    at,
                    related=(aware[0].at, plain[0].at),
                )


RULE = ObjectRule(
    "topology-and-plain-flavors-mixed",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Set topologyName in all flavors of the queue, or split the queue.",
    judges=("ClusterQueue",),
    check=check,
    reads=("ResourceFlavor",),
)
