"""The priorities that workloads can have."""

from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.core import PriorityClassView
from policygen.kubernetes.table import Entry

BUILT_IN = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
"""The priority classes that every cluster has."""
HIGHEST = 1_000_000_000
"""The highest value of a class of users; Kubernetes reserves higher ones."""
LOWEST = -(2**31)
"""The lowest priority of pods."""


def default_class(cluster: Cluster) -> Entry[PriorityClassView] | None:
    """The PriorityClass of pods without one; of several defaults, the one with the lowest value.

    Source: getDefaultPriorityClass in plugin/pkg/admission/priority of Kubernetes 1.36.3, and in
    pkg/util/priority of Kueue 0.19.2.
    """
    defaults = (it for it in cluster.priority_classes if it.fields.global_default)
    return min(defaults, key=lambda it: it.fields.value, default=None)


def default(cluster: Cluster) -> int:
    """The priority of a workload without a class."""
    return of_class(cluster, "") or 0


def class_of(cluster: Cluster, name: str) -> Entry[PriorityClassView] | None:
    """The class of pods that name it; with an empty name, the default. None if it does not exist."""
    return cluster.priority_classes.get(name) if name else default_class(cluster)


def never_preempts(cluster: Cluster, name: str) -> bool:
    """Whether pods with this class, or with an empty name, evict no other pods."""
    found = class_of(cluster, name)
    return found is not None and found.fields.preemption_policy == "Never"


def of_class(cluster: Cluster, name: str) -> int | None:
    """The priority of pods with this class, or with an empty name; None if it does not exist."""
    found = class_of(cluster, name)
    if found is not None:
        return found.fields.value
    return BUILT_IN.get(name) if name else 0


def values(cluster: Cluster) -> set[int]:
    """The priorities of all declared classes, except Kubernetes' own."""
    found = {entry.fields.value for entry in cluster.workload_priority_classes}
    for entry in cluster.priority_classes:
        if not entry.name.startswith("system-"):
            found.add(entry.fields.value)
    return found
