"""A ClusterQueue names a ResourceFlavor that does not exist."""

from policygen.api_validation.metadata import is_subdomain
from policygen.core.suggest import suggest
from policygen.lint.kueue.quotas import flavors
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """One missing flavor makes the queue inactive: FlavorNotFound.

    invalid-value reports names that no flavor can have. Source: pkg/cache/scheduler/clusterqueue.go, updateFlavorMetadata.
    """
    known = facts.cluster.flavors
    for queue in facts.cluster.cluster_queues:
        for at, flavor in flavors(queue):
            if not known.knows(flavor.name) and is_subdomain(flavor.name):
                yield Hit(
                    RULE,
                    f'{queue} names ResourceFlavor "{flavor.name}", which does not exist; '
                    f"{suggest(flavor.name, known.names(), 'ResourceFlavor')}",
                    at / "name",
                )


RULE = ObjectRule(
    "flavor-missing",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Name an existing ResourceFlavor, or create the missing one before the ClusterQueue.",
    judges=("ClusterQueue",),
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("ResourceFlavor",),
)
