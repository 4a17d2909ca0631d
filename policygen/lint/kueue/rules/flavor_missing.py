"""A ClusterQueue names a ResourceFlavor that does not exist."""

from policygen.core.suggest import suggest
from policygen.lint.kueue.quotas import groups_at
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """One missing flavor makes the queue inactive: FlavorNotFound.

    Source: pkg/cache/scheduler/clusterqueue.go, updateFlavorMetadata.
    """
    known = facts.cluster.flavors
    for queue in facts.cluster.cluster_queues:
        for i, group in enumerate(queue.it.resource_groups):
            for j, flavor in enumerate(group.flavors):
                if known.knows(flavor.name):
                    continue
                suggestion = suggest(flavor.name, known.names(), "ResourceFlavor")
                at = groups_at(queue, i, "flavors", j, "name")
                yield Hit(
                    RULE,
                    f'{queue} names ResourceFlavor "{flavor.name}", which does not exist; '
                    f"{suggestion}",
                    at,
                )


RULE = ObjectRule(
    "flavor-missing",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Name an existing ResourceFlavor, or create it before the ClusterQueue.",
    judges=("ClusterQueue",),
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("ResourceFlavor",),
)
