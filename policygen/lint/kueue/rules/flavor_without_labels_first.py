"""A flavor without nodeLabels is listed before other flavors, so it also accepts their jobs."""

from policygen.kubernetes.kueue import ResourceFlavorView
from policygen.kubernetes.table import Entry
from policygen.lint.kueue.quotas import groups_at
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """It accepts every job, even one that selects its nodes, and its quota is used first.

    Source: pkg/scheduler/flavorassigner/flavorassigner.go, flavorSelector; issue 15136.
    """
    known = facts.cluster.flavors
    for queue in facts.cluster.cluster_queues:
        for i, group in enumerate(queue.fields.resource_groups):
            bare: tuple[int, Entry[ResourceFlavorView]] | None = None
            for j, quotas in enumerate(group.flavors):
                flavor = known.get(quotas.name)
                if flavor is None:
                    continue
                if flavor.fields.node_labels and bare:
                    at = groups_at(queue, i, "flavors", bare[0], "name")
                    yield Hit(
                        RULE,
                        f"{queue} lists flavor {bare[1].name}, which has no nodeLabels, before "
                        f"{quotas.name}, so {bare[1].name} also accepts jobs for later flavors; add "
                        f"nodeLabels to {bare[1].name}, or list this flavor last",
                        at,
                        related=(bare[1].at, flavor.at),
                    )
                    break
                if not flavor.fields.node_labels and bare is None:
                    bare = (j, flavor)


RULE = ObjectRule(
    "flavor-without-labels-first",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Add nodeLabels to every flavor, or put the flavor without labels last.",
    judges=("ClusterQueue",),
    check=check,
    reads=("ResourceFlavor",),
    aliases=("unlabelled-flavor-first",),
)
