"""The Workloads that Kueue creates for the objects of users.

Source: pkg/controller/jobframework and pkg/controller/jobs of Kueue 0.19.2.
"""

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha1

from msgspec import Struct

from policygen.api_validation import schemas
from policygen.api_validation.updates.kueue import SUSPEND_FIELDS
from policygen.core.finding import at_path, dotted
from policygen.core.go_values import integer
from policygen.core.names import LOCAL_QUEUE
from policygen.core.suggest import Names, suggest
from policygen.kubernetes.cluster import KUEUE, Cluster
from policygen.kubernetes.kueue_jobs import (
    BY_POD,
    DEFAULT_QUEUE,
    FRAMEWORKS,
    GROUP,
    GROUP_COUNT,
    MAX_TIME,
    PREBUILT,
    PRIORITY,
    labels,
)
from policygen.kubernetes.kueue_settings import Settings, identifier
from policygen.kubernetes.kueue_workloads import PodSetView, WorkloadView
from policygen.kubernetes.namespaces import selects
from policygen.kubernetes.object import Object
from policygen.kubernetes.untyped import mappings, text
from policygen.kubernetes.workloads import TEMPLATES, TRAIN_JOB, PodTemplate, Workload
from policygen.simulate.kueue.pod_sets import NotQueuedError, class_value, groups, of_pods, pod_sets

MAX_POD_SETS = 18
"""The most pod sets of a Workload."""
_DEFAULT_CLASS = "default"
_FAST = "kueue.x-k8s.io/pod-group-fast-admission"
_PODS = "pod"
"""The integration of pods."""
_UNCHECKED = ("LeaderWorkerSet", "StatefulSet")
"""Kinds for which Kueue creates Workloads in any namespace."""
_KNOWN = TEMPLATES.keys() | FRAMEWORKS.keys()
_OWN = ("k8s.io", "volcano.sh")
"""The ends of the groups of Kubernetes, Kueue and Volcano."""
_BUILT_IN = ("", "apps", "batch")
"""The groups of Kubernetes with workloads."""
_LONG, _SHORT, _HASH = 253, 63, 5
"""The most characters of the name of a Workload, and those of the hash at its end."""


class QueuedJob(Struct, frozen=True, eq=False):
    """A Workload that Kueue creates for an object."""

    owner: Object
    """The first of a group of Pods."""
    name: str
    """Of the Workload. Its end is a hash of the object's UID, which manifests do not have."""
    fields: WorkloadView

    @property
    def namespace(self) -> str:
        """The namespace of both."""
        return self.owner.namespace


class UnqueuedJob(Struct, frozen=True, eq=False):
    """An object with pods for which Kueue creates no Workload."""

    owner: Object
    reason: str
    starts: bool = False
    """Whether its pods start without Kueue."""
    unknown: bool = False
    """Whether this simulation does not know what becomes of it."""

    @property
    def passes_by(self) -> str:
        """Why its pods start without Kueue although it names a queue; empty: they do not."""
        return self.reason if self.starts and self.owner.labels.get(LOCAL_QUEUE) else ""


def jobs(cluster: Cluster, settings: Settings) -> tuple[list[QueuedJob], list[UnqueuedJob]]:
    """The Workloads that Kueue creates for a cluster's objects, and the objects without one."""
    queued: list[QueuedJob] = []
    unqueued: list[UnqueuedJob] = []
    for pods in _units(cluster, settings):
        try:
            queued += _workloads(pods, settings)
        except NotQueuedError as reason:
            unqueued += (_unqueued(cluster, it.object, reason, it.templates) for it in pods)
    for object_ in cluster.objects:
        words = _unknown_kind(object_)
        if words:
            unqueued.append(UnqueuedJob(object_, words, unknown=True))
    return queued, unqueued


def _unqueued(
    cluster: Cluster,
    object_: Object,
    reason: NotQueuedError,
    templates: Iterable[PodTemplate] = (),
) -> UnqueuedJob:
    """An object without a Workload. One that Kueue does not resume must not be suspended."""
    words, field = str(reason), SUSPEND_FIELDS.get((object_.group, object_.kind))
    if reason.starts and field is not None and at_path(object_.data, field) is True:
        words = f"{words}, and it is suspended; remove {dotted(field)}"
        return UnqueuedJob(object_, words)
    if reason.starts:
        try:
            for it in templates:
                class_value(cluster, it.spec.priority_class_name)
        except NotQueuedError as other:
            return UnqueuedJob(object_, str(other))
    return UnqueuedJob(object_, words, reason.starts, reason.unknown)


def is_foreign(object_: Object) -> bool:
    """Whether an object of a CRD has no effect on a simulation: it is not known, and makes no pods."""
    group = object_.group
    known = not group or "." not in group or group.endswith(_OWN) or _is_known(object_)
    return not known and not _unknown_kind(object_)


def _is_known(object_: Object) -> bool:
    group, kind = object_.group, object_.kind
    served = schemas.served(object_.api_version, kind)
    return (group, kind) in _KNOWN or (
        served is not None and (group.endswith(_OWN) or not _has_template(object_.data))
    )


def _unknown_kind(object_: Object) -> str:
    """Why the pods of an object of an unknown kind are not simulated; empty: it has none, or is known."""
    group, kind = object_.group, object_.kind
    if group in (KUEUE, TRAIN_JOB[0]) or _is_known(object_):
        return ""
    makes_pods = object_.labels.get(LOCAL_QUEUE) or _has_template(object_.data)
    if makes_pods or group in _BUILT_IN:
        meant = Names(it for of, it in _KNOWN if of == group).meant(kind)
        groups = sorted(of for of, it in _KNOWN if it == kind)
        missing = f"kind {kind} of {object_.api_version} does not exist"
        if groups:
            return f"{missing}; {_with_group(groups[0])}"
        if meant:
            return f'{missing}; did you mean "{meant}"?'
    return f"the pods of kind {kind} are not modelled" if makes_pods else ""


def _with_group(group: str) -> str:
    """How to write the API group of a kind."""
    if group in _BUILT_IN:
        return f"write apiVersion: {f'{group}/v1' if group else 'v1'}"
    return f"write an apiVersion of the group {group}"


def _has_template(data: object) -> bool:
    """Whether there is a pod template somewhere in the data of an object."""
    if isinstance(data, list):
        return any(map(_has_template, data))
    if not isinstance(data, dict):
        return False
    return any(
        isinstance(at_path(it, ("spec", "containers")), list)
        for key, it in data.items()
        if key.lower().endswith("template")
    ) or any(map(_has_template, data.values()))


def workload_name(object_: Object, name: str, *, short: bool = False) -> str:
    """The name of the Workload of an object (GetWorkloadNameForOwnerWithGVK)."""
    uid = text(object_.data, "metadata", "uid")
    parts = f"{object_.kind}\n{object_.group}\n{name}\n{uid}"
    hashed = sha1(parts.encode(), usedforsecurity=False).hexdigest()[:_HASH]
    most = (_SHORT if short else _LONG) - 1 - _HASH
    return f"{f'{object_.kind.lower()}-{name}'[:most]}-{hashed}"


def _units(cluster: Cluster, settings: Settings) -> Iterator[Sequence[Workload]]:
    """Each object alone, and the Pods of a group together."""
    found: dict[tuple[str, str], list[Workload]] = {}
    for workload in cluster.workloads:
        name = _group(workload, settings)
        if name:
            found.setdefault((workload.namespace, name), []).append(workload)
        else:
            yield (workload,)
    yield from found.values()


def _group(workload: Workload, settings: Settings) -> str:
    """The name of the group of a Pod; empty: it has none."""
    if workload.kind != "Pod":
        return ""
    return identifier(workload.labels, workload.annotations, GROUP, settings)[1]


def _workloads(pods: Sequence[Workload], settings: Settings) -> Iterator[QueuedJob]:
    first = pods[0]
    group, kind = first.object.group, first.kind
    if (group, kind) == TRAIN_JOB and (words := settings.cluster.train_jobs[first.at].unknown):
        raise NotQueuedError(words, unknown=True)
    if kind == "CronJob":
        raise NotQueuedError("a CronJob creates its Jobs later", unknown=True)
    if kind == "DaemonSet":
        raise NotQueuedError("the number of its pods depends on the nodes", unknown=True)
    if (group, kind) not in FRAMEWORKS and (group, kind) not in BY_POD:
        raise NotQueuedError(f"Kueue does not manage kind {kind} of {group}", starts=True)
    queue, by_pod = _queue(first, settings)
    if not queue and not _manages_all(settings):
        raise NotQueuedError(f"it has no label {LOCAL_QUEUE}", starts=True)
    _check(first, settings, queue=queue, by_pod=by_pod)
    name = _group(first, settings)
    sets = _of_group(settings.cluster, pods, name) if name else pod_sets(first)
    if len(sets) > MAX_POD_SETS:
        raise NotQueuedError(f"it has {len(sets)} pod sets; a Workload has at most {MAX_POD_SETS}")
    class_ = _label(first, PRIORITY, by_pod=by_pod) or _default_class(settings)
    priority = _priority(settings.cluster, class_, _classes(first, sets))
    longest = integer(_label(first, MAX_TIME, by_pod=by_pod))
    fields = WorkloadView(
        queue,
        priority,
        sets,
        maximum_execution_time_seconds=longest if (longest or 0) > 0 else None,
    )
    for each in [name] if name else _names(first, settings):
        yield QueuedJob(first.object, each, fields)


def _names(workload: Workload, settings: Settings) -> Iterator[str]:
    """The names of the Workloads of an object; those of the pods of a Deployment are made up."""
    short = settings.gate("ShortWorkloadNames")
    it, count = workload.object, groups(workload)
    name = workload.name or text(it.data, "metadata", "generateName")
    for i in range(count):
        if workload.kind == "LeaderWorkerSet":
            yield workload_name(it, f"{name}-{i}", short=short)
        elif _single(workload):
            yield f"pod-{name}-{i}"
        else:
            yield workload_name(it, name, short=short)


def _single(workload: Workload) -> bool:
    """Whether Kueue admits each pod of the object alone."""
    kind = (workload.object.group, workload.kind)
    return kind in BY_POD or workload.kind == "Deployment"


def _manages_all(settings: Settings) -> bool:
    entry = settings.entry
    return entry is not None and entry.fields.manage_jobs_without_queue_name


def _queue(workload: Workload, settings: Settings) -> tuple[str, bool]:
    """The LocalQueue of a workload, empty if it has none, and whether only its pods name it."""
    by_pod = (workload.object.group, workload.kind) in BY_POD
    own = _label(workload, LOCAL_QUEUE, by_pod=by_pod)
    if own and (by_pod or labels(workload).get(LOCAL_QUEUE)):
        return own, by_pod
    cluster, namespace = settings.cluster, workload.namespace
    managed = selects(cluster, settings.managed, namespace) is not False
    if managed and cluster.local_queues.knows(DEFAULT_QUEUE, namespace):
        return DEFAULT_QUEUE, by_pod
    return own, by_pod or bool(own)


def _label(workload: Workload, key: str, *, by_pod: bool) -> str:
    """A label that Kueue reads. A Deployment's own label replaces that of its pods."""
    own = "" if by_pod else labels(workload).get(key, "")
    if own or not (by_pod or workload.kind == "Deployment"):
        return own
    return next((it.labels.get(key, "") for it in workload.templates), "")


def _check(workload: Workload, settings: Settings, *, queue: str, by_pod: bool) -> None:
    """Raises NotQueuedError if Kueue does not manage the object."""
    namespace, spec = workload.namespace, workload.spec
    framework = _PODS if by_pod else FRAMEWORKS[workload.object.group, workload.kind]
    # Without a Configuration it is not known which integrations are enabled.
    if settings.entry is not None and framework not in settings.frameworks:
        words = f"integrations.frameworks of Kueue's Configuration does not have {framework}"
        raise NotQueuedError(words, starts=True)
    unchecked = queue and workload.kind in _UNCHECKED
    if not unchecked and selects(settings.cluster, settings.managed, namespace) is False:
        raise NotQueuedError(f"Kueue does not manage namespace {namespace}", starts=True)
    for owner in mappings(workload.object.data, "metadata", "ownerReferences"):
        above = (text(owner, "apiVersion").rpartition("/")[0], text(owner, "kind"))
        if owner.get("controller") is True and above in FRAMEWORKS:
            raise NotQueuedError(f"it belongs to {above[1]} {text(owner, 'name')}")
    if workload.kind == "RayJob" and spec.get("clusterSelector"):
        raise NotQueuedError("it uses an existing RayCluster (clusterSelector)", unknown=True)
    prebuilt = identifier(workload.labels, workload.annotations, PREBUILT, settings)[1]
    if prebuilt:
        raise NotQueuedError(f"it uses the existing Workload {prebuilt}", unknown=True)


def _of_group(cluster: Cluster, pods: Sequence[Workload], name: str) -> tuple[PodSetView, ...]:
    """The pod sets of a group of Pods. Kueue waits until all its Pods exist, and deletes others."""
    first = pods[0]
    total = integer(first.annotations.get(GROUP_COUNT, ""))
    if total is None or total < 1:
        raise NotQueuedError(f"annotation {GROUP_COUNT} of group {name} is not a number of pods")
    for key in (LOCAL_QUEUE, GROUP_COUNT):
        if len({(it.labels.get(key), it.annotations.get(key)) for it in pods}) > 1:
            raise NotQueuedError(f"the pods of group {name} have different values of {key}")
    if first.annotations.get(_FAST) == "true":
        return of_pods(cluster, pods, total)
    if len(pods) < total:
        raise NotQueuedError(f"group {name} has {len(pods)} of {total} pods")
    return of_pods(cluster, pods[:total], None)


def _priority(cluster: Cluster, chosen: str, classes: Iterator[str]) -> int:
    """The priority of a Workload: of its WorkloadPriorityClass, else of the first PriorityClass.

    Raises NotQueuedError. Source: ExtractPriority in pkg/controller/jobframework.
    """
    if chosen:
        entry = cluster.workload_priority_classes.get(chosen)
        if entry is None:
            known = cluster.workload_priority_classes.names()
            advice = suggest(chosen, known, "WorkloadPriorityClass")
            raise NotQueuedError(f"WorkloadPriorityClass {chosen} does not exist; {advice}")
        return entry.fields.value
    return class_value(cluster, next(classes, ""))


def _default_class(settings: Settings) -> str:
    """The WorkloadPriorityClass of objects that name none; empty: there is none."""
    known = settings.cluster.workload_priority_classes.knows(_DEFAULT_CLASS)
    return _DEFAULT_CLASS if known and settings.gate("WorkloadPriorityClassDefaulting") else ""


def _classes(workload: Workload, sets: Iterable[PodSetView]) -> Iterator[str]:
    """The PriorityClasses that the object names, in the order in which Kueue reads them."""
    named = [
        text(workload.spec, "runPolicy", "schedulingPolicy", "priorityClass")
        if workload.object.group == "kubeflow.org"
        else "",
        *(it.template.spec.priority_class_name for it in sets),
    ]
    return (it for it in named if it)
