"""Changes of objects that a scene is read from again: labels of jobs, and fields of Volcano's queues."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from msgspec.structs import replace

from policygen.core.finding import At
from policygen.core.names import DEFAULT_NAMESPACE, LOCAL_QUEUE
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.kueue_jobs import PRIORITY
from policygen.kubernetes.object import Object
from policygen.kubernetes.workloads import KINDS, Workload
from policygen.simulate.arrival import Arrival
from policygen.simulate.scene import Scene
from policygen.simulate.scene_jobs import arrivals
from policygen.simulate.why.changes import FieldChange, with_value

_JOBS = frozenset({*KINDS, "CronJob", "Pod", "PodGroup", "Workload"})
"""Kinds of which other objects do not matter to a job."""
_VALUES = 4
"""The number of values of a label that are tried."""


def changed_scene(scene: Scene, changes: Sequence[FieldChange]) -> Scene:
    """The scene after changes of its objects."""
    cluster = scene.cluster
    objects = [_after(it, changes) for it in cluster.objects]
    return replace(scene, cluster=Cluster(objects, cluster.seen, cluster.pods))


def with_object(scene: Scene, data: dict[str, Any]) -> Scene:
    """The scene with one object more."""
    cluster = scene.cluster
    made = Object.read(data, At(-1))
    if made is None:
        return scene
    others = (it for it in cluster.objects if it.identity != made.identity)
    return replace(scene, cluster=Cluster([*others, made], cluster.seen, cluster.pods))


def arrival_of(scene: Scene, identity: tuple[str, str, str, str]) -> Arrival | None:
    """The job of an object, by API group, kind, namespace and name; None: the object makes no job."""
    kept = [it for it in scene.cluster.objects if it.kind not in _JOBS or it.identity == identity]
    found = arrivals(replace(scene, cluster=Cluster(kept, scene.cluster.seen, ())))
    return next(iter(found), None)


def _after(object_: Object, changes: Sequence[FieldChange]) -> Object:
    data = object_.data
    for it in changes:
        if it.changes(object_):
            data = with_value(data, it.path, it.after)
    if data is object_.data:
        return object_
    return Object.read(data, object_.at) or object_


def managing_changes(cluster: Cluster, arrival: Arrival) -> Iterator[FieldChange]:
    """Labels with which Kueue may manage a job."""
    owner = owner_of(cluster, arrival)
    if owner is not None:
        yield from label_changes(cluster, owner.object)


def scheduler_changes(cluster: Cluster, arrival: Arrival, meant: str) -> Iterator[FieldChange]:
    """The name of the scheduler that is meant, instead of the misspelled one."""
    owner = owner_of(cluster, arrival)
    for template in owner.templates if owner is not None else ():
        if owner is not None and owner.scheduler_name(template) == arrival.unscheduled:
            path = owner.scheduler_at(template).path[len(owner.at.path) :]
            own = owner.object
            yield FieldChange(*own.identity[1:], path, arrival.unscheduled, meant, group=own.group)
            return


def owner_of(cluster: Cluster, arrival: Arrival) -> Workload | None:
    """The object that makes a job; None: it is not listed."""
    namespace, _, name = arrival.object_name.partition("/")
    wanted = arrival.kind, namespace, name
    return next(
        (
            it
            for it in cluster.workloads
            if (it.kind, it.namespace or DEFAULT_NAMESPACE, it.name) == wanted
        ),
        None,
    )


def label_changes(cluster: Cluster, object_: Object) -> Iterator[FieldChange]:
    """Labels with which Kueue may manage a job: another priority class, or a queue."""
    named = object_.labels.get(PRIORITY)
    if named and not cluster.workload_priority_classes.knows(named):
        names: list[str | None] = [it.name for it in cluster.workload_priority_classes]
        for name in (*names[:_VALUES], None):
            yield _label(object_, PRIORITY, name)
    if not object_.labels.get(LOCAL_QUEUE):
        for it in islice(cluster.local_queues.by_namespace.get(object_.namespace, ()), _VALUES):
            yield _label(object_, LOCAL_QUEUE, it.name)


def _label(object_: Object, key: str, after: str | None) -> FieldChange:
    before = object_.labels.get(key)
    path = "metadata", "labels", key
    return FieldChange(*object_.identity[1:], path, before, after, group=object_.group)
