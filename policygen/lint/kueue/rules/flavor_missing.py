"""A ClusterQueue names a ResourceFlavor that is not there."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.core.suggest import suggest
from policygen.lint.kueue.quotas import queues_alike
from policygen.lint.rule import Facts, Family, Need, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """One missing flavor makes the whole queue inactive: FlavorNotFound.

    Source: pkg/cache/scheduler/clusterqueue.go, updateFlavorMetadata.
    """
    known = facts.cluster.flavors
    for alike in facts.cluster.derive(queues_alike):
        for i, group in enumerate(alike.groups):
            for j, flavor in enumerate(group.flavors):
                if known.knows(flavor.name):
                    continue
                hint = suggest(flavor.name, known.names())
                for queue, at in alike.at(i, "flavors", j, "name"):
                    yield Hit(
                        RULE,
                        f'{queue} uses ResourceFlavor "{flavor.name}", which is not there; {hint}',
                        at,
                    )


RULE = ObjectRule(
    "flavor-missing",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=("ClusterQueue",),
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("ResourceFlavor",),
)
