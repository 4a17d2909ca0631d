"""PriorityClasses and the workloads with GPUs that use them."""

import re
from collections.abc import Mapping, Sequence

from policygen.kubernetes import accelerators
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.core import PriorityClassView
from policygen.kubernetes.kueue_jobs import PRIORITY
from policygen.kubernetes.priorities import HIGHEST
from policygen.kubernetes.table import Entry
from policygen.kubernetes.untyped import text
from policygen.kubernetes.workloads import Workload

Class = Entry[PriorityClassView]

SERVING = ("Deployment", "StatefulSet", "ReplicaSet", "LeaderWorkerSet", "RayService", "Rollout")
"""Kinds of workloads that run until they are deleted."""

_WORDS = {"low": 0, "medium": 1, "normal": 1, "high": 2, "critical": 3}
"""Words of names by their rank."""
_PART = re.compile(r"[a-z0-9]+")


def named_rank(name: str) -> tuple[str, int] | None:
    """The rest of the name of a class, and the rank that a word such as high in it suggests."""
    words = [word for word in _PART.findall(name) if word in _WORDS]
    if len(words) != 1:
        return None
    return re.sub(rf"\b{words[0]}\b", "*", name), _WORDS[words[0]]


def own_classes(cluster: Cluster) -> tuple[Class, ...]:
    """The PriorityClasses without those of Kubernetes, and refused values; for `cluster.derive`."""
    return tuple(
        it
        for it in cluster.priority_classes
        if not it.name.startswith("system-") and it.fields.value <= HIGHEST
    )


def preempts(entry: Class) -> bool:
    """Whether pods of a class evict others."""
    return entry.fields.preemption_policy != "Never"


def classes_of_gpu_workloads(cluster: Cluster) -> Mapping[str, Sequence[Workload]]:
    """The workloads with GPUs by the PriorityClass of their pods, empty without one; for `derive`.

    Skips workloads with a WorkloadPriorityClass, which Kueue uses instead.
    """
    found: dict[str, list[Workload]] = {}
    for workload in cluster.workloads:
        templates = [it for it in workload.templates if accelerators.requested(cluster, it)]
        if not templates or PRIORITY in workload.labels:
            continue
        # A Pod has it in its spec, a Volcano Job for all its tasks.
        own = text(workload.spec, "priorityClassName")
        for name in dict.fromkeys(it.spec.priority_class_name or own for it in templates):
            found.setdefault(name, []).append(workload)
    return found
