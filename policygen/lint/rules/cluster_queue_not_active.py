"""Kueue admits nothing through a ClusterQueue, and says why only in its status."""

from collections.abc import Iterator, Mapping

from policygen.cluster.kueue import ClusterQueue
from policygen.cluster.table import Entry
from policygen.finding import Severity
from policygen.lint.conditions import condition
from policygen.lint.rule import Claim, Facts, Family, Need, Rule

_TOLD = {
    "AdmissionCheckNotFound",  # admission-check-missing
    "MultipleMultiKueueAdmissionChecks",  # multi-kueue-check-misused
    "MultiKueueAdmissionCheckAppliedPerFlavor",
    "MultiKueueWithProvisioningRequest",
    "Ready",  # cohort-cycle; Kueue writes no reason of its own for it
    "Stopped",  # queue-held
}
"""Reasons whose cause stands in what is declared, so that another rule tells of it."""

_REMEDIES: Mapping[str, str] = {
    "AdmissionCheckInactive": "its controller must report the AdmissionCheck Active",
    "FlavorNotFound": "Kueue has not seen the flavors that are there; restart its manager",
    "TopologyNotFound": "Kueue has not seen the Topology that is there; restart its manager",
    "Terminating": "it is being deleted and waits for its workloads; let them end, or delete them",
}


def check(facts: Facts) -> Iterator[Claim]:
    """What is missing in the cluster as well is told where it is named.

    Source: pkg/cache/scheduler/clusterqueue.go of Kueue 0.19.2, updateQueueStatus and inactiveReason.
    """
    for queue in facts.cluster.cluster_queues:
        found = condition(queue.object, "Active")
        if found is None or found.holds or found.reason in _TOLD or _missing(facts, queue):
            continue
        remedy = _REMEDIES.get(found.reason, "look into the log of Kueue's manager")
        yield Claim(
            f"{queue} is not active and admits nothing: {found.reason}: {found.message}; {remedy}",
            queue.at,
        )


def _missing(facts: Facts, queue: Entry[ClusterQueue]) -> bool:
    """Whether it names a flavor that is not there, or one without its Topology."""
    cluster = facts.cluster
    for group in queue.it.resource_groups:
        for each in group.flavors:
            flavor = cluster.flavors.get(each.name)
            if flavor is None:
                return True
            topology = flavor.it.topology_name
            if topology and not cluster.topologies.knows(topology):
                return True
    return False


RULE = Rule(
    "cluster-queue-not-active",
    Severity.ERROR,
    Family.INERT,
    judges=("ClusterQueue",),
    check=check,
    needs=frozenset({Need.SEEN}),
    reads=("ResourceFlavor", "Topology"),
)
