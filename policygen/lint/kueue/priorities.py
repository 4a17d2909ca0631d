"""The priorities that workloads can have."""

from policygen.kubernetes.cluster import Cluster


def default(cluster: Cluster) -> int:
    """The priority of a workload without a class."""
    for entry in cluster.priority_classes:
        if entry.fields.global_default:
            return entry.fields.value
    return 0


def values(cluster: Cluster) -> set[int]:
    """The priorities of all declared classes, except Kubernetes' own."""
    found = {entry.fields.value for entry in cluster.workload_priority_classes}
    for entry in cluster.priority_classes:
        if not entry.name.startswith("system-"):
            found.add(entry.fields.value)
    return found
