"""A flavor without node labels stands before flavors that have some."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.kueue.quotas import queues_alike
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """It accepts every job, also those that choose their nodes, and its quota is used up first.

    Source: pkg/scheduler/flavorassigner/flavorassigner.go, flavorSelector; issue 15136.
    """
    known = facts.cluster.flavors
    for same in facts.cluster.derive(queues_alike):
        for i, group in enumerate(same.groups):
            bare: tuple[int, str] | None = None
            for j, quotas in enumerate(group.flavors):
                flavor = known.get(quotas.name)
                if flavor is None:
                    continue
                if flavor.it.node_labels and bare:
                    for queue, at in same.at(i, "flavors", bare[0], "name"):
                        yield Hit(
                            RULE,
                            f"{queue} tries flavor {bare[1]}, which has no nodeLabels, before "
                            f"{quotas.name}; label it, or put it last",
                            at,
                        )
                    break
                if not flavor.it.node_labels and bare is None:
                    bare = (j, quotas.name)


RULE = ObjectRule(
    "unlabelled-flavor-first",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=("ClusterQueue",),
    check=check,
    reads=("ResourceFlavor",),
)
