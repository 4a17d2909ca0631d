"""What must be deleted last, because workloads name it: queues and priorities.

tests/servers/test_removal.py deletes such objects on the real servers.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec import Struct

from policygen.adopt.workloads import queue_of
from policygen.drift.changes import What
from policygen.kubernetes.cluster import KUEUE, SCHEDULING, VOLCANO, Cluster
from policygen.kubernetes.kueue_jobs import PRIORITY
from policygen.kubernetes.object import Object
from policygen.review.objects import ObjectChange

_WHY = {
    (SCHEDULING, "PriorityClass"): "the server refuses new pods that name a deleted class",
    (KUEUE, "WorkloadPriorityClass"): "Kueue ignores new jobs that name a deleted class",
    (KUEUE, "LocalQueue"): "pending workloads of a deleted queue wait",
    (KUEUE, "ClusterQueue"): "pending workloads of a deleted queue wait",
    (VOLCANO, "Queue"): "pending jobs of a deleted queue never start, and new ones are refused",
}
"""In the order of the deletions."""


class Deletion(Struct, frozen=True, eq=False):
    """An object to delete when no workload names it any more."""

    object: Object
    new_name: str
    """Empty if it is not renamed."""
    why: str
    """A sentence without a final stop."""
    users: tuple[str, ...]
    """The workloads of manifests or of a cluster that name it after the change."""


def deletions(
    changes: Iterable[ObjectChange], after: Cluster, earlier: Collection[str]
) -> tuple[Deletion, ...]:
    """The removed queues and priorities that workloads can name. `earlier` are Queues that must be deleted before.

    `after` are all objects after the change. A queue that policygen did not render is deleted if it is renamed.
    """
    users = after.derive(_users)
    order = list(_WHY)
    found = []
    for it in changes:
        kind = (it.object.group, it.object.kind)
        if it.what is not What.REMOVED or kind not in _WHY or (it.foreign and not it.other_names):
            continue
        if it.object.kind == "Queue" and it.object.name in earlier:
            continue
        key = (it.object.kind, it.object.namespace, it.object.name)
        new = it.other_names[0] if it.other_names else ""
        found.append(Deletion(it.object, new, _WHY[kind], tuple(users.get(key, ()))))
    below = {it.object.name: it for it in found if it.object.kind == "Queue"}
    return tuple(
        sorted(
            found,
            key=lambda it: (order.index((it.object.group, it.object.kind)), -_depth(it, below)),
        )
    )


def _depth(deletion: Deletion, queues: Mapping[str, Deletion]) -> int:
    """How many of the queues are above a queue: children are deleted before their parents."""
    seen = set[str]()
    above: Deletion | None = deletion
    while above is not None and above.object.name not in seen:
        seen.add(above.object.name)
        spec = above.object.data.get("spec")
        parent = spec.get("parent") if isinstance(spec, dict) else None
        above = queues.get(parent) if isinstance(parent, str) else None
    return len(seen)


def _users(cluster: Cluster) -> Mapping[tuple[str, str, str], Sequence[str]]:
    """The workloads that name each queue or priority."""
    found: defaultdict[tuple[str, str, str], dict[str, None]] = defaultdict(dict)
    for workload in cluster.workloads:
        keys = [
            ("WorkloadPriorityClass", "", workload.labels.get(PRIORITY, "")),
            *(("PriorityClass", "", it.spec.priority_class_name) for it in workload.templates),
            *(queue_of(cluster, workload, it) for it in workload.templates),
        ]
        for key in filter(None, keys):
            found[key][str(workload.object)] = None
    return {key: list(names) for key, names in found.items()}
