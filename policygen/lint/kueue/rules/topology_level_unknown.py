"""A workload asks for a level that none of its queue's topologies has."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.label_grammar import key_fault
from policygen.core.rule import Severity
from policygen.core.suggest import suggest
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.kueue import ClusterQueue
from policygen.kubernetes.table import Entry
from policygen.kubernetes.workloads import KINDS
from policygen.lint.kueue.coverage import asked
from policygen.lint.kueue.quotas import flavors
from policygen.lint.kueue.topologies import levels, requested
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Flavors without the level are skipped. What no level can be called is refused.

    Source: pkg/cache/scheduler/tas_flavor_snapshot.go, HasLevel.
    """
    cluster = facts.cluster
    for each in asked(facts):
        wanted = list(requested(each.template))
        if not wanted:
            continue
        known = _levels(cluster, each.queue)
        for at, level in wanted if known else ():
            if level not in known and not key_fault(level):
                yield Hit(
                    RULE,
                    f'{each.by.workload} asks for topology level "{level}", which no flavor of '
                    f"{each.queue} has; {suggest(level, known)}",
                    at,
                )


def _levels(cluster: Cluster, queue: Entry[ClusterQueue]) -> set[str]:
    """All levels of its flavors; none if one of them is not in the input."""
    known: set[str] = set()
    for _, quotas in flavors(queue):
        flavor = cluster.flavors.get(quotas.name)
        found = levels(cluster, flavor) if flavor and flavor.it.topology_name else ()
        if flavor is None or found is None:
            return set()
        known.update(found)
    return known


RULE = ObjectRule(
    "topology-level-unknown",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=KINDS,
    check=check,
    reads=(
        "LocalQueue",
        "ClusterQueue",
        "ResourceFlavor",
        "Topology",
        "Configuration",
        "LimitRange",
    ),
)
