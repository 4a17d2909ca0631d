"""The priorities that workloads can have."""

from policygen.kubernetes.cluster import Cluster

BUILT_IN = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
"""The priority classes that every cluster has."""


def default(cluster: Cluster) -> int:
    """The priority of a workload without a class; of several defaults, the lowest.

    Source: getDefaultPriorityClass in plugin/pkg/admission/priority of Kubernetes 1.36.3, and in
    pkg/util/priority of Kueue 0.19.2.
    """
    defaults = [it.fields.value for it in cluster.priority_classes if it.fields.global_default]
    return min(defaults, default=0)


def values(cluster: Cluster) -> set[int]:
    """The priorities of all declared classes, except Kubernetes' own."""
    found = {entry.fields.value for entry in cluster.workload_priority_classes}
    for entry in cluster.priority_classes:
        if not entry.name.startswith("system-"):
            found.add(entry.fields.value)
    return found
