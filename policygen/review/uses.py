"""Who still uses an object that a change removes, and what happens to them.

tests/servers/test_removal.py deletes such objects on the real servers.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from policygen.adopt.kueue import local_queues
from policygen.kubernetes.cluster import KUEUE, SCHEDULING, VOLCANO, Cluster
from policygen.kubernetes.conditions import holds, phase
from policygen.kubernetes.kueue_jobs import PRIORITY
from policygen.kubernetes.kueue_workloads import WorkloadView
from policygen.kubernetes.object import Object
from policygen.kubernetes.table import Entry
from policygen.kubernetes.untyped import text


class Use(Struct, frozen=True):
    """Objects that use a removed object, and what happens to them."""

    noun: str
    """What they are, in the singular: `admitted workload`."""
    names: tuple[str, ...]
    effect: str
    """A predicate that begins with its verb in the plural, and else fits one and several objects: `keep running`."""


class ClusterChange(Struct, frozen=True, eq=False):
    """A cluster before and after a change."""

    before: Cluster
    """What exists, with workloads and pods."""
    after: Cluster
    """The same cluster with the changed objects, and without the removed ones."""


def cluster_change(
    cluster: Cluster, removed: Iterable[Object], new: Iterable[Object]
) -> ClusterChange:
    """The state of a cluster before and after a change that removes objects and applies new ones."""
    changed = {it.identity: it for it in new}
    gone = {it.identity for it in removed}
    kept = [it for it in cluster.objects if it.identity not in gone | changed.keys()]
    return ClusterChange(cluster, Cluster([*kept, *changed.values()], cluster.seen, cluster.pods))


def uses(removed: Object, at: ClusterChange) -> list[Use]:
    """Who uses a removed object, without kinds of users that do not exist."""
    find = _USES.get((removed.group, removed.kind))
    return [it for it in find(removed, at) if it.names] if find else []


def _use(noun: str, users: Iterable[Object | str], effect: str) -> Use:
    names = (it if isinstance(it, str) else _name(it) for it in users)
    return Use(noun, tuple(sorted(names)), effect)


def _name(found: Object) -> str:
    return f"{found.namespace}/{found.name}" if found.namespace else found.name


def _open(cluster: Cluster) -> Iterator[Entry[WorkloadView]]:
    """The Workloads of Kueue that have not finished."""
    return (it for it in cluster.kueue_workloads if not holds(it.object, "Finished"))


def _admitted_by(workload: Entry[WorkloadView]) -> str:
    """The ClusterQueue in which a Workload holds quota; empty if it waits."""
    return text(workload.object.data, "status", "admission", "clusterQueue")


def _running(cluster: Cluster) -> Mapping[str, Sequence[Object]]:
    """The admitted Workloads of each ClusterQueue."""
    found: defaultdict[str, list[Object]] = defaultdict(list)
    for it in _open(cluster):
        if name := _admitted_by(it):
            found[name].append(it.object)
    return found


def _by_local_queue(cluster: Cluster) -> Mapping[tuple[str, str], Sequence[Entry[WorkloadView]]]:
    """The Workloads of each LocalQueue, by namespace and name."""
    found: defaultdict[tuple[str, str], list[Entry[WorkloadView]]] = defaultdict(list)
    for it in _open(cluster):
        found[it.namespace, it.fields.queue_name].append(it)
    return found


def _pods(cluster: Cluster) -> Mapping[str, Sequence[str]]:
    """The names of the pods of each namespace that have not ended."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for it in cluster.pods:
        if not it.done:
            found[it.namespace].append(f"{it.namespace}/{it.name}")
    return found


def _cluster_queue(removed: Object, at: ClusterChange) -> Iterator[Use]:
    running = at.before.derive(_running).get(removed.name, ())
    yield _use(
        "admitted workload",
        running,
        "keep running, and Kueue keeps the queue until the last one ends; it admits nothing new",
    )
    of_queue = at.before.derive(_by_local_queue)
    pending = [
        it.object
        for queue in at.before.derive(local_queues).get(removed.name, ())
        for it in of_queue.get((queue.namespace, queue.name), ())
        if not _admitted_by(it)
    ]
    yield _use("pending workload", pending, "wait until the LocalQueue names another queue")
    local = at.after.derive(local_queues).get(removed.name, ())
    yield _use("LocalQueue", local, "name it, so new workloads wait")


def _local_queue(removed: Object, at: ClusterChange) -> Iterator[Use]:
    here = at.before.derive(_by_local_queue).get((removed.namespace, removed.name), ())
    running = [it.object for it in here if _admitted_by(it)]
    yield _use("admitted workload", running, "keep running; an evicted one waits")
    pending = [it.object for it in here if not _admitted_by(it)]
    yield _use("pending workload", pending, "wait until the LocalQueue exists again")


def _flavor(removed: Object, at: ClusterChange) -> Iterator[Use]:
    users = [
        it.object
        for it in at.after.cluster_queues
        if any(
            flavor.name == removed.name
            for group in it.fields.resource_groups
            for flavor in group.flavors
        )
    ]
    yield _use("ClusterQueue", users, "use it, so Kueue keeps the flavor")


def _cohort(removed: Object, at: ClusterChange) -> Iterator[Use]:
    users = [
        *(it.object for it in at.after.cluster_queues if it.fields.cohort_name == removed.name),
        *(it.object for it in at.after.cohorts if it.fields.parent_name == removed.name),
    ]
    effect = "lose the quotas of the Cohort, and keep all others"
    yield _use("queue", users, effect)


def _topology(removed: Object, at: ClusterChange) -> Iterator[Use]:
    users = [it.object for it in at.after.flavors if it.fields.topology_name == removed.name]
    yield _use("ResourceFlavor", users, "name it, so queues with such a flavor admit nothing")


def _workload_priority(removed: Object, at: ClusterChange) -> Iterator[Use]:
    users = [it.object for it in at.before.workloads if _labels(it.object) == removed.name]
    effect = "keep the priority; Kueue ignores new jobs with this class, which then wait"
    yield _use("workload", users, effect)


def _labels(found: Object) -> str:
    return found.labels.get(PRIORITY, "")


def _priority(removed: Object, at: ClusterChange) -> Iterator[Use]:
    pods = [
        f"{it.namespace}/{it.name}"
        for it in at.before.pods
        if it.spec.priority_class_name == removed.name and not it.done
    ]
    yield _use("pod", pods, "keep the priority")
    makers = [
        it.object
        for it in at.before.workloads
        if any(each.spec.priority_class_name == removed.name for each in it.templates)
    ]
    yield _use("workload", makers, "name it, so the server refuses new pods")


def _namespace(removed: Object, at: ClusterChange) -> Iterator[Use]:
    pods = at.before.derive(_pods).get(removed.name, ())
    yield _use("pod", pods, "are deleted if a tool deletes the namespace; policygen never does")


def _volcano_queue(removed: Object, at: ClusterChange) -> Iterator[Use]:
    groups = [it.object for it in at.before.pod_groups if it.fields.queue == removed.name]
    running = [it for it in groups if phase(it) == "Running"]
    yield _use("running PodGroup", running, "keep running")
    waiting = [it for it in groups if phase(it) not in {"Running", "Completed"}]
    yield _use("pending PodGroup", waiting, "do not start")
    children = [it.object for it in at.after.queues if it.fields.parent == removed.name]
    yield _use("Queue", children, "name it as parent, so the webhook refuses to delete it")


_USES: Mapping[tuple[str, str], Callable[[Object, ClusterChange], Iterator[Use]]] = {
    (KUEUE, "ClusterQueue"): _cluster_queue,
    (KUEUE, "LocalQueue"): _local_queue,
    (KUEUE, "ResourceFlavor"): _flavor,
    (KUEUE, "Cohort"): _cohort,
    (KUEUE, "Topology"): _topology,
    (KUEUE, "WorkloadPriorityClass"): _workload_priority,
    (SCHEDULING, "PriorityClass"): _priority,
    ("", "Namespace"): _namespace,
    (VOLCANO, "Queue"): _volcano_queue,
}
"""By API group and kind of the removed object."""
