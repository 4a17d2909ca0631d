"""A ClusterQueue names a ResourceFlavor that does not exist."""

from collections.abc import Iterable, Mapping

from policygen.api_validation.metadata import is_subdomain
from policygen.core.finding import At
from policygen.core.quoting import some
from policygen.core.suggest import Names, suggest
from policygen.kubernetes.kueue import ClusterQueueView
from policygen.kubernetes.table import Entry
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
    missing: dict[str, dict[At, Entry[ClusterQueueView]]] = {}
    for queue in facts.cluster.cluster_queues:
        for at, flavor in flavors(queue):
            if flavor.name in renamed:
                continue
            if not known.knows(flavor.name) and is_subdomain(flavor.name):
                missing.setdefault(flavor.name, {})[at / "name"] = queue
    for name, queues in missing.items():
        yield _hit(name, queues, known.names())


def _hit(name: str, queues: Mapping[At, Entry[ClusterQueueView]], known: Iterable[str]) -> Hit:
    """One hit for all queues that name a flavor. They can list each other flavor only once."""
    listed = {flavor.name for queue in queues.values() for _, flavor in flavors(queue)}
    names = Names(it for it in known if it not in listed)
    at, *others = queues
    return Hit(
        RULE,
        f"{some([str(it) for it in queues.values()], 'other queue')} {'names' if len(queues) == 1 else 'name'} ResourceFlavor "
        f'"{name}", which does not exist; {suggest(name, names, "ResourceFlavor")}',
        at,
        tuple(others),
        meant=tuple(it for place in queues for it in written(place, names.meant(name))),
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
