"""Changes of objects that keep a workload out of its queue, or refuse its requests."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from policygen.core.names import HOSTNAME
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.kueue_requests import adjusted
from policygen.kubernetes.limit_ranges import limits_of
from policygen.kubernetes.object import Object
from policygen.kubernetes.untyped import mapping, mappings
from policygen.kubernetes.workloads import Container
from policygen.simulate.kueue.amounts import counted, shown
from policygen.simulate.why.causes import Cause, CauseKind, ObstacleKind
from policygen.simulate.why.changes import (
    Change,
    FieldChange,
    ObjectAdded,
    QueueChange,
    RequestChange,
)
from policygen.simulate.why.situation import AskedWorkload

API = "kueue.x-k8s.io/v1beta2"
Changes = Sequence[Change]
_QUEUES = 5
"""The most ClusterQueues that are tried for a missing LocalQueue."""


def first_changes(cluster: Cluster, asked: AskedWorkload, cause: Cause) -> Iterator[Changes]:
    """Changes that remove a cause which is not a lack of quota."""
    make = _BY_KIND.get(cause.kind)
    return iter(()) if make is None else make(cluster, asked, cause)


def _queue_missing(cluster: Cluster, asked: AskedWorkload, _: Cause) -> Iterator[Changes]:
    yield from _queues(cluster, asked)
    name = asked.fields.queue_name
    for queue in _new_queues(cluster, asked.namespace, name or "default", name):
        yield [queue]


def _cluster_queue_missing(cluster: Cluster, asked: AskedWorkload, _: Cause) -> Iterator[Changes]:
    yield from _queues(cluster, asked)
    name = asked.fields.queue_name
    for queue in _new_queues(cluster, asked.namespace, "", name):
        yield [queue, QueueChange(name, queue.data["metadata"]["name"])]


def _stopped(cluster: Cluster, asked: AskedWorkload, cause: Cause) -> Iterator[Changes]:
    kind, _, name = cause.about.partition(" ")
    namespace, _, name = name.rpartition("/")
    yield [_field(_object(cluster, kind, namespace, name), ("spec", "stopPolicy"), "None")]
    yield from _queues(cluster, asked)


def _flavor_missing(cluster: Cluster, asked: AskedWorkload, cause: Cause) -> Iterator[Changes]:
    yield [
        ObjectAdded(
            {"apiVersion": API, "kind": "ResourceFlavor", "metadata": {"name": it}, "spec": {}}
        )
        for it in cause.names
    ]
    yield from _queues(cluster, asked)


def _topology_missing(cluster: Cluster, asked: AskedWorkload, cause: Cause) -> Iterator[Changes]:
    """Topologies with the only level that all nodes have."""
    levels = [{"nodeLabel": HOSTNAME}]
    added = {"apiVersion": API, "kind": "Topology", "spec": {"levels": levels}}
    yield [
        _field(entry.object, ("spec", "levels"), levels)
        if (entry := cluster.topologies.get(it))
        else ObjectAdded({**added, "metadata": {"name": it}})
        for it in cause.names
    ]
    yield from _queues(cluster, asked)


def _check_missing(cluster: Cluster, asked: AskedWorkload, cause: Cause) -> Iterator[Changes]:
    object_ = _object(cluster, "ClusterQueue", "", cause.queue)
    path = ("spec", "admissionChecksStrategy", "admissionChecks")
    written = mappings(object_.data, *path)
    kept = [it for it in written if it.get("name") not in cause.names]
    yield [_field(object_, path, kept) if kept else _field(object_, path[:2], None)]
    yield from _queues(cluster, asked)


def _cohort_cycle(cluster: Cluster, asked: AskedWorkload, cause: Cause) -> Iterator[Changes]:
    for it in cause.names:
        yield [_field(_object(cluster, "Cohort", "", it), ("spec", "parentName"), None)]
    yield from _queues(cluster, asked)


def _deactivated(_: Cluster, asked: AskedWorkload, __: Cause) -> Iterator[Changes]:
    name = asked.name.partition("/")[2]
    path = ("spec", "active")
    yield [FieldChange("Workload", asked.namespace, name, path, before=False, after=True)]


def _queues(cluster: Cluster, asked: AskedWorkload) -> Iterator[Changes]:
    """The other LocalQueues of the namespace."""
    for it in cluster.local_queues.by_namespace.get(asked.namespace, ()):
        if it.name != asked.fields.queue_name:
            yield [QueueChange(asked.fields.queue_name, it.name)]


def _new_queues(cluster: Cluster, namespace: str, name: str, taken: str) -> Iterator[ObjectAdded]:
    """A LocalQueue for each ClusterQueue that selects the namespace. Without a name, it has another one."""
    entry = cluster.namespaces.get(namespace)
    labels = entry.labels if entry is not None else {}
    found = 0
    for it in cluster.cluster_queues:
        selector = it.fields.namespace_selector
        if selector is None or not selector.selects(labels) or found == _QUEUES:
            continue
        found += 1
        other = it.name if it.name != taken else f"{it.name}-queue"
        metadata = {"name": name or other, "namespace": namespace}
        spec = {"clusterQueue": it.name}
        yield ObjectAdded(
            {"apiVersion": API, "kind": "LocalQueue", "metadata": metadata, "spec": spec}
        )


def _selected(cluster: Cluster, asked: AskedWorkload, cause: Cause) -> Iterator[Changes]:
    """A label of the namespace, or another selector."""
    namespace, queue = asked.namespace, cause.queue
    entry = cluster.cluster_queues.get(queue)
    known = cluster.namespaces.get(namespace)
    selector = entry.fields.namespace_selector if entry else None
    if known is not None and selector is not None:
        wanted = dict(selector.match_labels)
        for it in selector.match_expressions:
            if it.operator == "In" and it.values:
                wanted[it.key] = it.values[0]
            elif it.operator == "Exists":
                wanted.setdefault(it.key, "true")
        missing = {key: value for key, value in wanted.items() if known.labels.get(key) != value}
        if missing and "kubernetes.io/metadata.name" not in missing:
            yield [
                FieldChange(
                    "Namespace",
                    "",
                    namespace,
                    ("metadata", "labels", key),
                    known.labels.get(key),
                    value,
                )
                for key, value in missing.items()
            ]
    object_ = _object(cluster, "ClusterQueue", "", queue)
    path = ("spec", "namespaceSelector")
    before = mapping(object_.data, "spec").get("namespaceSelector")
    names = sorted(
        {it.namespace for it in cluster.local_queues if it.fields.cluster_queue == queue}
    )
    one = {"key": "kubernetes.io/metadata.name", "operator": "In", "values": names}
    yield [FieldChange("ClusterQueue", "", queue, path, before, {"matchExpressions": [one]})]


def _in_bounds(cluster: Cluster, asked: AskedWorkload, _: Cause) -> Iterator[Changes]:
    """Requests within the limits and the LimitRanges.

    Kueue does not try a waiting workload again when a LimitRange changes.
    """
    own: list[Change] = []
    for pods in asked.fields.pod_sets:
        spec = adjusted(cluster, pods.template.spec, asked.namespace)
        for container in spec.containers:
            total = {it: counted(it, amount) for it, amount in spec.requests.items()}
            for name, bound in _bounds(cluster, asked.namespace, container).items():
                have = _amount(container, name)
                before = total.get(name, 0)
                after = before - counted(name, have) + counted(name, bound)
                own.append(RequestChange(pods.name, name, before, after))
    if own:
        yield own


def _bounds(cluster: Cluster, namespace: str, container: Container) -> Mapping[str, Fraction]:
    """The amounts that are allowed, of resources of which the container requests another amount."""
    found: dict[str, Fraction] = {}
    for name, amount in container.resources.requests.items():
        limit = container.resources.limits.get(name)
        if limit is not None and amount > limit:
            found[name] = limit
    for item in limits_of(cluster, namespace, "Container"):
        for name, most in item.max.items():
            if _amount(container, name) > most:
                found[name] = min(most, found.get(name, most))
        for name, least in item.min.items():
            if 0 < _amount(container, name) < least:
                found[name] = max(least, found.get(name, least))
    return found


def _amount(container: Container, name: str) -> Fraction:
    own = container.resources
    return max(own.requests.get(name, Fraction(0)), own.limits.get(name, Fraction(0)))


def _covered(cluster: Cluster, asked: AskedWorkload, cause: Cause) -> Iterator[Changes]:
    """The pods do not request the resource, or the queue gets a quota of it."""
    missing = [it for it in cause.obstacles if it.kind is ObstacleKind.NOT_COVERED]
    sets = {it.name: it for it in asked.fields.pod_sets}
    yield [
        RequestChange(it.pod_set, it.resource, it.asked // max(sets[it.pod_set].count, 1), 0)
        for it in missing
    ]
    object_ = _object(cluster, "ClusterQueue", "", cause.queue)
    groups = mappings(object_.data, "spec", "resourceGroups")
    if not groups:
        return
    wanted: dict[str, int] = {}
    for it in missing:
        wanted[it.resource] = wanted.get(it.resource, 0) + it.asked
    group = groups[0]
    more = [{"name": name, "nominalQuota": shown(name, amount)} for name, amount in wanted.items()]
    after: dict[str, Any] = {
        **group,
        "coveredResources": [*group.get("coveredResources", ()), *wanted],
        "flavors": [
            {**it, "resources": [*it.get("resources", ()), *more]}
            for it in mappings(group, "flavors")
        ],
    }
    path = ("spec", "resourceGroups", 0)
    yield [
        FieldChange("ClusterQueue", "", cause.queue, path, dict(group), after, ", ".join(wanted))
    ]


def _field(object_: Object, path: tuple[str, ...], after: Any) -> FieldChange:
    before: Any = object_.data
    for key in path:
        before = before.get(key) if isinstance(before, dict) else None
    return FieldChange(object_.kind, object_.namespace, object_.name, path, before, after)


def _object(cluster: Cluster, kind: str, namespace: str, name: str) -> Object:
    return next(
        it
        for it in cluster.objects
        if it.kind == kind and it.name == name and it.namespace == namespace
    )


_BY_KIND: Mapping[CauseKind, Callable[[Cluster, AskedWorkload, Cause], Iterator[Changes]]] = {
    CauseKind.QUEUE_MISSING: _queue_missing,
    CauseKind.LOCAL_QUEUE_STOPPED: _stopped,
    CauseKind.CLUSTER_QUEUE_MISSING: _cluster_queue_missing,
    CauseKind.CLUSTER_QUEUE_STOPPED: _stopped,
    CauseKind.FLAVOR_MISSING: _flavor_missing,
    CauseKind.TOPOLOGY_MISSING: _topology_missing,
    CauseKind.CHECK_MISSING: _check_missing,
    CauseKind.CHECK_INACTIVE: _check_missing,
    CauseKind.COHORT_CYCLE: _cohort_cycle,
    CauseKind.NAMESPACE_NOT_SELECTED: _selected,
    CauseKind.DEACTIVATED: _deactivated,
    CauseKind.REFUSED: _in_bounds,
    CauseKind.NOT_COVERED: _covered,
}
