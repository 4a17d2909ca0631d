"""A flavor without node labels stands before flavors that have some."""

from collections.abc import Iterator

from policygen.finding import Severity
from policygen.lint.rule import Claim, Facts, Family, Rule


def check(facts: Facts) -> Iterator[Claim]:
    """It accepts every job, also those that choose their nodes, and its quota is used up first.

    Source: pkg/scheduler/flavorassigner/flavorassigner.go, flavorSelector; issue 15136.
    """
    known = facts.cluster.flavors
    for queue in facts.cluster.cluster_queues:
        for i, group in enumerate(queue.it.resource_groups):
            bare: tuple[int, str] | None = None
            for j, quotas in enumerate(group.flavors):
                flavor = known.get(quotas.name)
                if flavor is None:
                    continue
                if flavor.it.node_labels and bare:
                    yield Claim(
                        f"{queue} tries flavor {bare[1]}, which has no nodeLabels, before "
                        f"{quotas.name}; label it, or put it last",
                        queue.at.to("spec", "resourceGroups", i, "flavors", bare[0], "name"),
                    )
                    break
                if not flavor.it.node_labels and bare is None:
                    bare = (j, quotas.name)


RULE = Rule(
    "unlabelled-flavor-first",
    Severity.WARNING,
    Family.INERT,
    judges=("ClusterQueue",),
    check=check,
    reads=("ResourceFlavor",),
)
