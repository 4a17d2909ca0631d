"""A ClusterQueue names a ResourceFlavor that is not there."""

from collections.abc import Iterator

from policygen.finding import Severity
from policygen.lint.quotas import flavors
from policygen.lint.rule import Claim, Facts, Family, Need, Rule
from policygen.spec.nearest import suggest


def check(facts: Facts) -> Iterator[Claim]:
    """One missing flavor makes the whole queue inactive: FlavorNotFound.

    Source: pkg/cache/scheduler/clusterqueue.go, updateFlavorMetadata.
    """
    known = facts.cluster.flavors
    for queue in facts.cluster.cluster_queues:
        for at, flavor in flavors(queue):
            if not known.knows(flavor.name):
                hint = suggest(flavor.name, known.names())
                yield Claim(
                    f'{queue} uses ResourceFlavor "{flavor.name}", which is not there; {hint}',
                    at / "name",
                )


RULE = Rule(
    "flavor-missing",
    Severity.ERROR,
    Family.INERT,
    judges=("ClusterQueue",),
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("ResourceFlavor",),
)
