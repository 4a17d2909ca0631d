"""Kueue admits nothing through a ClusterQueue, and says why only in its status."""

from collections.abc import Iterator, Mapping

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.kueue import ClusterQueue
from policygen.kubernetes.table import Entry
from policygen.lint.core.conditions import condition
from policygen.lint.rule import Facts, Family, Need, ObjectRule

_TOLD: Mapping[str, str] = {
    "AdmissionCheckNotFound": "admission-check-missing",
    "MultipleMultiKueueAdmissionChecks": "multi-kueue-check-misused",
    "MultiKueueAdmissionCheckAppliedPerFlavor": "multi-kueue-check-misused",
    "MultiKueueWithProvisioningRequest": "multi-kueue-check-misused",
    "Ready": "cohort-cycle",  # Kueue writes no reason of its own for it
    "Stopped": "queue-held",
}
"""Reasons whose cause stands in what is declared, and the rules that tell of it there."""

_REMEDIES: Mapping[str, str] = {
    "AdmissionCheckInactive": "its controller must report the AdmissionCheck Active",
    "AdmissionCheckNotFound": "create the check, or take it out of the queue",
    "FlavorNotFound": "create the flavor; if it is there, Kueue has not seen it: restart its manager",
    "TopologyNotFound": "create the Topology; if it is there, Kueue has not seen it: restart its manager",
    "Stopped": "remove stopPolicy once it may go on",
    "Terminating": "it is being deleted and waits for its workloads; let them end, or delete them",
}


def check(facts: Facts) -> Iterator[Hit]:
    """What stands in objects is told there, if the rule that does so is run too.

    Source: pkg/cache/scheduler/clusterqueue.go of Kueue 0.19.2, updateQueueStatus and inactiveReason.
    """
    for queue in facts.cluster.cluster_queues:
        found = condition(queue.object, "Active")
        if found is None or found.holds or _is_told(found.reason, queue, facts):
            continue
        remedy = _REMEDIES.get(found.reason, "look into the log of Kueue's manager")
        yield Hit(
            RULE,
            f"{queue} is not active and admits nothing: {found.reason}: {found.message}; {remedy}",
            queue.at,
        )


def _is_told(reason: str, queue: Entry[ClusterQueue], facts: Facts) -> bool:
    if reason in _TOLD:
        return _TOLD[reason] in facts.run
    return any(rule in facts.run for rule in _missing(facts.cluster, queue))


def _missing(cluster: Cluster, queue: Entry[ClusterQueue]) -> Iterator[str]:
    """The rules that tell of a flavor that is not there, or of one without its Topology."""
    for group in queue.it.resource_groups:
        for each in group.flavors:
            flavor = cluster.flavors.get(each.name)
            if flavor is None:
                yield "flavor-missing"
            elif flavor.it.topology_name and not cluster.topologies.knows(flavor.it.topology_name):
                yield "topology-missing"


RULE = ObjectRule(
    "cluster-queue-not-active",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=("ClusterQueue",),
    check=check,
    needs=frozenset({Need.SEEN}),
    reads=("ResourceFlavor", "Topology"),
)
