"""The priorities that workloads can have."""

from policygen.kubernetes.cluster import Cluster


def default(cluster: Cluster) -> int:
    """The priority of a workload without a class."""
    for entry in cluster.priority_classes:
        if entry.it.global_default:
            return entry.it.value
    return 0


def values(cluster: Cluster) -> set[int]:
    """The priorities of all declared classes, except Kubernetes' own."""
    found = {entry.it.value for entry in cluster.workload_priority_classes}
    for entry in cluster.priority_classes:
        if not entry.name.startswith("system-"):
            found.add(entry.it.value)
    return found
