"""A ClusterQueue names a ResourceFlavor that does not exist."""

from policygen.api_validation.metadata import is_subdomain
from policygen.core.suggest import suggest
from policygen.lint.core.renamed_objects import NameUse, renamed_objects
from policygen.lint.kueue.quotas import flavors, owners
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity, written


def check(facts: Facts) -> Hits:
    """One missing flavor makes the queue inactive: FlavorNotFound.

    invalid-value reports names that no flavor can have. Source: pkg/cache/scheduler/clusterqueue.go, updateFlavorMetadata.
    """
    known = facts.cluster.flavors
    uses = (
        NameUse(owner, flavor.name, at / "name")
        for owner in owners(facts.cluster)
        for at, flavor in flavors(owner)
    )
    renamed = renamed_objects(uses, known)
    for it in renamed.values():
        yield from it.hits(facts, RULE)
    for queue in facts.cluster.cluster_queues:
        for at, flavor in flavors(queue):
            if flavor.name in renamed:
                continue
            if not known.knows(flavor.name) and is_subdomain(flavor.name):
                yield Hit(
                    RULE,
                    f'{queue} names ResourceFlavor "{flavor.name}", which does not exist; '
                    f"{suggest(flavor.name, known.names(), 'ResourceFlavor')}",
                    at / "name",
                    meant=written(at / "name", known.names().meant(flavor.name)),
                )


RULE = ObjectRule(
    "flavor-missing",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Name an existing ResourceFlavor, or create the missing one before the ClusterQueue.",
    judges=("ClusterQueue", "ResourceFlavor"),
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("ResourceFlavor", "Cohort"),
)
