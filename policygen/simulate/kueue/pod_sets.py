"""The pod sets of the Workloads that Kueue creates for each kind.

Source: PodSets in pkg/controller/jobs of Kueue 0.19.2.
"""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeVar

from msgspec import ValidationError
from msgspec.structs import replace

from policygen.core.decoding import converted
from policygen.core.finding import at_path, dotted
from policygen.core.go_values import integer as go_integer
from policygen.core.suggest import suggest
from policygen.kubernetes import priorities
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.kueue_jobs import MIN_PARALLELISM
from policygen.kubernetes.kueue_requests import adjusted, as_pod
from policygen.kubernetes.kueue_workloads import PodSetTemplate, PodSetView, TopologyRequestView
from policygen.kubernetes.typed import decoded
from policygen.kubernetes.untyped import integer, mapping, text
from policygen.kubernetes.workloads import (
    APP_WRAPPER,
    KINDS,
    RAY_CLUSTERS,
    Container,
    PodSpec,
    PodTemplate,
    Resources,
    Workload,
    wrapped,
)
from policygen.simulate.kueue.roles import role

T = TypeVar("T")

_MI = 2**20
_AUTOSCALER = {"cpu": Fraction(1, 2), "memory": Fraction(512 * _MI)}
_REDIS_CLEANUP = {"cpu": Fraction(1, 5), "memory": Fraction(256 * _MI)}
_SUBMITTER = Container(
    resources=Resources(
        requests={"cpu": Fraction(1, 2), "memory": Fraction(200 * _MI)},
        limits={"cpu": Fraction(1), "memory": Fraction(1024 * _MI)},
    )
)
"""The container that submits a RayJob, with KubeRay's defaults."""
_TOPOLOGY = "kueue.x-k8s.io/podset-"
_OF_TOPOLOGY = (
    "required-topology",
    "preferred-topology",
    "unconstrained-topology",
    "slice-required-topology",
    "slice-size",
    "slice-required-topology-constraints",
    "group-name",
)
"""The annotations of a pod template that ask for topology-aware scheduling, without their prefix."""
_MARKS_OF_TOPOLOGY = frozenset(f"{_TOPOLOGY}{it}" for it in _OF_TOPOLOGY[:4]) | {
    f"{_TOPOLOGY}slice-required-topology-constraints"
}
"""Pods with one of these are not counted as pods that Kueue did not place.

Source: pkg/util/tas/tas.go of Kueue 0.19.2, IsTAS.
"""
_TRUTHS = {
    **dict.fromkeys(("1", "t", "T", "true", "TRUE", "True"), True),
    **dict.fromkeys(("0", "f", "F", "false", "FALSE", "False"), False),
}
"""Booleans as Go parses them."""
_REPLICA_TYPES = {
    "JAXJob": ("Worker",),
    "MPIJob": ("Launcher", "Worker"),
    "PaddleJob": ("Master", "Worker"),
    "PyTorchJob": ("Master", "Worker"),
    "TFJob": ("Chief", "Master", "PS", "Worker", "Evaluator"),
    "XGBoostJob": ("Master", "Worker"),
}
"""The replica types of the training operators, in Kueue's order."""
_IN_WRAPPERS = frozenset(
    {"Pod", "Job", "JobSet", "Deployment", "StatefulSet", "PyTorchJob", "RayCluster", "RayJob"}
)
"""The kinds whose pod sets an AppWrapper finds itself."""


class NotQueuedError(ValueError):
    """Kueue creates no Workload of an object, or its pods are not known; the text is the reason."""

    def __init__(self, reason: str, *, starts: bool = False, unknown: bool = False) -> None:
        super().__init__(reason)
        self.starts = starts
        """Whether its pods start without Kueue."""
        self.unknown = unknown
        """Whether this simulation does not know what becomes of it."""


def pod_sets(workload: Workload) -> tuple[PodSetView, ...]:
    """The pod sets of one Workload of an object. Raises NotQueuedError."""
    kind = workload.kind
    if kind in _REPLICA_TYPES:
        return _of_replica_types(workload)
    if workload.object.group == "ray.io":
        return tuple(_of_ray(workload))
    if kind in ("JobSet", "TrainJob"):
        return tuple(
            _pod_set(_item(workload, it, 3, "name"), it, it.replicas) for it in workload.templates
        )
    if kind == "LeaderWorkerSet":
        return tuple(_of_group(workload))
    if kind == APP_WRAPPER:
        return tuple(_of_wrapped(workload))
    (template,) = _templates(workload)
    if kind in ("Job", "StatefulSet"):
        return (
            replace(
                _pod_set("main", template, template.replicas),
                min_count=go_integer(workload.annotations.get(MIN_PARALLELISM, ""))
                if kind == "Job"
                else None,
            ),
        )
    return (_pod_set("main", replace(template, spec=as_pod(template.spec)), 1),)


def asks_topology(annotations: Iterable[str]) -> bool:
    """Whether the annotations of a pod ask Kueue for a topology."""
    return not _MARKS_OF_TOPOLOGY.isdisjoint(annotations)


def groups(workload: Workload) -> int:
    """The number of Workloads of an object. Raises NotQueuedError."""
    if workload.kind == "LeaderWorkerSet":
        return _known(integer(workload.spec.get("replicas", 1)))
    if workload.kind == "StatefulSet":
        return min(1, _known(_templates(workload)[0].replicas))
    if workload.kind in ("Deployment", "ReplicaSet", "ReplicationController", "Rollout"):
        return _known(_templates(workload)[0].replicas)
    return 1


def of_pods(
    cluster: Cluster, pods: Sequence[Workload], total: int | None
) -> tuple[PodSetView, ...]:
    """The pod sets of a group of Pods: one for each distinct pod spec, in Kueue's order.

    With `total`, the first pod counts for all, as with fast admission. Raises NotQueuedError.
    """
    found: dict[str, PodSetView] = {}
    for workload in pods:
        (template,) = _templates(workload)
        spec = as_pod(template.spec)
        priority = class_value(cluster, spec.priority_class_name)
        name = role(workload.spec, adjusted(cluster, spec, workload.namespace), priority)
        if name in found:
            found[name] = replace(found[name], count=found[name].count + 1)
        else:
            found[name] = _pod_set(name, replace(template, spec=spec), total or 1)
        if total:
            break
    return tuple(found[name] for name in sorted(found))


def class_value(cluster: Cluster, name: str) -> int:
    """The priority of pods with this PriorityClass, or with none. Raises NotQueuedError."""
    value = priorities.of_class(cluster, name)
    if value is None:
        advice = suggest(name, cluster.priority_classes.names(), "PriorityClass")
        raise NotQueuedError(
            f"PriorityClass {name} does not exist, so kube-apiserver refuses its pods; {advice}"
        )
    return value


def _of_replica_types(workload: Workload) -> tuple[PodSetView, ...]:
    by_type = {it.at.path[len(workload.at.path) + 2]: it for it in _templates(workload)}
    return tuple(
        _pod_set(type_, by_type[type_], by_type[type_].replicas)
        for type_ in _REPLICA_TYPES[workload.kind]
        if type_ in by_type
    )


def _of_wrapped(workload: Workload) -> Iterable[PodSetView]:
    """The pod sets of the objects in an AppWrapper. Raises NotQueuedError.

    Source: InferPodSets in pkg/utils of AppWrapper 1.2.2.
    """
    for it in wrapped(workload.object.data):
        if it.kind in KINDS and it.kind not in _IN_WRAPPERS:
            words = f"Kueue does not find the pods of {dotted(it.path)}, which has kind {it.kind}"
            raise NotQueuedError(words, unknown=True)
    for i, template in enumerate(_templates(workload)):
        name = f"{workload.object.name}-{i}"
        yield _pod_set(name, template, template.replicas)


def _of_group(workload: Workload) -> Iterable[PodSetView]:
    """The leader and the workers of one group of a LeaderWorkerSet."""
    size = _known(integer(mapping(workload.spec, "leaderWorkerTemplate").get("size", 1)))
    *leader, workers = _templates(workload)
    for template in leader:
        yield _pod_set("leader", template, 1)
    yield _pod_set("worker" if leader else "main", workers, size - len(leader))


def _of_ray(workload: Workload) -> Iterable[PodSetView]:
    spec = mapping(workload.spec, *RAY_CLUSTERS.get(workload.kind, ()))
    head, *workers = _templates(workload)
    mode = text(workload.spec, "submissionMode") or "K8sJobMode"
    pods = _head(head.spec, spec, workload.annotations)
    if workload.kind == "RayJob" and mode == "SidecarMode":
        pods = replace(pods, containers=(*pods.containers, _SUBMITTER))
    yield _pod_set("head", replace(head, spec=pods), 1)
    for template in workers:
        name = _item(workload, template, 1, "groupName")
        yield _pod_set(name, template, template.replicas)
    if workload.kind == "RayJob" and mode == "K8sJobMode":
        yield PodSetView("submitter", 1, None, PodSetTemplate(_submitter(workload)))


def _head(pods: PodSpec, spec: Mapping[str, Any], annotations: Mapping[str, str]) -> PodSpec:
    """The head pod with what KubeRay adds: the autoscaler, and requests of the cleanup of Redis."""
    fault_tolerant = annotations.get("ray.io/ft-enabled", "").lower() == "true"
    if (fault_tolerant or spec.get("gcsFaultToleranceOptions") is not None) and pods.containers:
        first, *others = pods.containers
        own = first.resources.requests
        requests = {
            **own,
            **{it: max(amount, own.get(it, amount)) for it, amount in _REDIS_CLEANUP.items()},
        }
        first = replace(first, resources=replace(first.resources, requests=requests))
        pods = replace(pods, containers=(first, *others))
    if spec.get("enableInTreeAutoscaling") is True:
        written = at_path(spec, ("autoscalerOptions", "resources"))
        resources = Resources(_AUTOSCALER, _AUTOSCALER)
        if written is not None:
            resources = _read(written, Resources, "autoscalerOptions.resources")
        pods = replace(pods, containers=(*pods.containers, Container(resources=resources)))
    return pods


def _submitter(workload: Workload) -> PodSpec:
    template = workload.spec.get("submitterPodTemplate")
    if template is None:
        return PodSpec(containers=(_SUBMITTER,))
    return _read(mapping(template, "spec"), PodSpec, "submitterPodTemplate.spec")


def _templates(workload: Workload) -> Sequence[PodTemplate]:
    if not workload.templates:
        raise NotQueuedError("its pod template is missing", unknown=True)
    return workload.templates


def _pod_set(name: str, template: PodTemplate, count: int | None) -> PodSetView:
    request = _topology_request(template.annotations)
    return PodSetView(name.lower(), _known(count), None, PodSetTemplate(template.spec), request)


def _topology_request(annotations: Mapping[str, str]) -> TopologyRequestView | None:
    """What annotations of a pod template ask of a topology. Raises NotQueuedError.

    Source: pkg/controller/jobframework/tas.go.
    """
    found = {it: annotations.get(f"{_TOPOLOGY}{it}") for it in _OF_TOPOLOGY}
    required, preferred, unconstrained, level, size, constraints, group = found.values()
    named = required is not None or preferred is not None
    sliced = level is not None and size is not None
    if not named and unconstrained is None and not sliced and constraints is None:
        return None
    try:
        return TopologyRequestView(
            required=required or "",
            preferred="" if required is not None else preferred or "",
            unconstrained=not named and unconstrained is not None and _TRUTHS[unconstrained],
            pod_set_slice_required_topology=level or "" if sliced else "",
            pod_set_slice_size=int(size or "") if sliced else 1,
            pod_set_group_name=group or "",
            podset_slice_required_topology_constraints=(constraints,) if constraints else (),
        )
    except (KeyError, ValueError):
        words = f"an annotation {_TOPOLOGY}* of its pods has a value that Kueue refuses"
        raise NotQueuedError(words) from None


def _known(count: int | None) -> int:
    if count is None:
        raise NotQueuedError("its number of pods is not known", unknown=True)
    return count


def _item(workload: Workload, template: PodTemplate, above: int, key: str) -> str:
    """A field of the item of a list that holds a template, `above` steps above it."""
    path = template.at.path[len(workload.at.path) :]
    return text(at_path(workload.object.data, path[:-above]), key)


def _read(data: Any, type_: type[T], field: str) -> T:
    try:
        return converted(data, type_, decoded)
    except (ValidationError, RecursionError):
        raise NotQueuedError(f"its field {field} cannot be read", unknown=True) from None
