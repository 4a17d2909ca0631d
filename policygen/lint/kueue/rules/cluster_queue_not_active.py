"""A ClusterQueue is not active, so Kueue admits no workload of this queue."""

from collections.abc import Iterator, Mapping

from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.conditions import condition
from policygen.kubernetes.kueue import ClusterQueueView
from policygen.kubernetes.table import Entry
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity

_REPORTED_BY: Mapping[str, str] = {
    "AdmissionCheckNotFound": "admission-check-missing",
    "MultipleMultiKueueAdmissionChecks": "multi-kueue-check-misused",
    "MultiKueueAdmissionCheckAppliedPerFlavor": "multi-kueue-check-misused",
    "MultiKueueWithProvisioningRequest": "multi-kueue-check-misused",
    "Ready": "cohort-cycle",  # Kueue has no separate reason for a cycle
    "Stopped": "queue-stopped",
}
"""Reasons whose cause is visible in objects, and the rules that report it there."""

_REMEDIES: Mapping[str, str] = {
    "AdmissionCheckInactive": "find out why the controller of the AdmissionCheck does not set the check to Active",
    "AdmissionCheckNotFound": "create the AdmissionCheck, or remove its name from the ClusterQueue",
    "FlavorNotFound": "create the ResourceFlavor; if it exists, restart Kueue's manager",
    "TopologyNotFound": "create the Topology; if it exists, restart Kueue's manager",
    "Stopped": "remove stopPolicy from the ClusterQueue",
    "Terminating": "wait until the workloads of the queue end, or delete the workloads",
}


def check(facts: Facts) -> Hits:
    """Skips causes that another rule of this run reports.

    Source: pkg/cache/scheduler/clusterqueue.go of Kueue 0.19.2, updateQueueStatus and
    inactiveReason.
    """
    for queue in facts.cluster.cluster_queues:
        found = condition(queue.object, "Active")
        if found is None or found.holds or _is_reported(found.reason, queue, facts):
            continue
        remedy = _REMEDIES.get(found.reason, "check the log of Kueue's manager")
        yield Hit(
            RULE,
            f"{queue} is not active, so it admits nothing ({found.reason}: "
            f"{found.message.rstrip('.')}); {remedy}",
            queue.at,
        )


def _is_reported(reason: str, queue: Entry[ClusterQueueView], facts: Facts) -> bool:
    """True if another rule of this run reports the cause."""
    if reason in _REPORTED_BY:
        return _REPORTED_BY[reason] in facts.run
    return any(rule in facts.run for rule in _missing(facts.cluster, queue))


def _missing(cluster: Cluster, queue: Entry[ClusterQueueView]) -> Iterator[str]:
    """The rules that report a missing flavor of the queue, or the missing Topology of a flavor."""
    for group in queue.fields.resource_groups:
        for quotas in group.flavors:
            flavor = cluster.flavors.get(quotas.name)
            if flavor is None:
                yield "flavor-missing"
            elif flavor.fields.topology_name and not cluster.topologies.knows(
                flavor.fields.topology_name
            ):
                yield "topology-missing"


RULE = ObjectRule(
    "cluster-queue-not-active",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Fix the cause that condition Active in the status of the ClusterQueue reports.",
    judges=("ClusterQueue",),
    check=check,
    needs=frozenset({Need.SEEN}),
    reads=("ResourceFlavor", "Topology"),
)
