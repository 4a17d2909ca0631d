"""The Workloads of a cluster that wait for quota, and since when."""

from collections.abc import Iterator
from datetime import datetime

from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.conditions import condition, created, holds
from policygen.kubernetes.kueue_workloads import WorkloadView
from policygen.kubernetes.object import Object
from policygen.kubernetes.table import Entry


def waiting(cluster: Cluster) -> Iterator[tuple[Entry[WorkloadView], datetime]]:
    """Each Workload without quota, and when it began to wait. Those that a user deactivated do not wait.

    Source: apis/kueue/v1beta2/workload_types.go of Kueue 0.19.2 (QuotaReserved, Evicted, Finished).
    """
    for entry in cluster.kueue_workloads:
        if not entry.fields.active or any(
            holds(entry.object, it) for it in ("Finished", "QuotaReserved")
        ):
            continue
        since = _since(entry.object)
        if since is not None:
            yield entry, since


def _since(workload: Object) -> datetime | None:
    """When it began to wait: its last eviction, or else its creation."""
    evicted = condition(workload, "Evicted")
    return evicted.since if evicted and evicted.holds else created(workload)
