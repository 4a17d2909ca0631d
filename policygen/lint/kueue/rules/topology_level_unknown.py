"""A workload requests a topology level that no flavor of its queue has."""

from policygen.core.label_grammar import key_fault
from policygen.core.suggest import suggest
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.kueue import ClusterQueueView
from policygen.kubernetes.table import Entry
from policygen.kubernetes.workloads import KINDS
from policygen.lint.kueue.coverage import READS, pod_requests
from policygen.lint.kueue.quotas import flavors
from policygen.lint.kueue.topologies import levels, requested_levels
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Kueue skips flavors without the level. Another rule reports invalid level names.

    Source: pkg/cache/scheduler/tas_flavor_snapshot.go, HasLevel.
    """
    cluster = facts.cluster
    for request in pod_requests(facts):
        requested = list(requested_levels(request.template))
        if not requested:
            continue
        known = _levels(cluster, request.queue)
        for at, level in requested if known else ():
            if level not in known and not key_fault(level):
                yield Hit(
                    RULE,
                    f'{request.workload} requests topology level "{level}", which no flavor of '
                    f"{request.queue} has; {suggest(level, known)}",
                    at,
                )


def _levels(cluster: Cluster, queue: Entry[ClusterQueueView]) -> set[str]:
    """All levels of the queue's flavors; empty if a flavor or Topology is not in the input."""
    known: set[str] = set()
    for _, quotas in flavors(queue):
        flavor = cluster.flavors.get(quotas.name)
        found = levels(cluster, flavor) if flavor and flavor.fields.topology_name else ()
        if flavor is None or found is None:
            return set()
        known.update(found)
    return known


RULE = ObjectRule(
    "topology-level-unknown",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Write a level that the Topology of the flavor has.",
    judges=KINDS,
    check=check,
    reads=(*READS, "ResourceFlavor", "Topology"),
)
