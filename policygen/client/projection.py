"""Selects what is kept of each listed object: all of policy objects, and what rules read of others.

Never kept are values of environment variables, commands and arguments of containers (except the
feature gates of controllers), and copies of an object in its annotations. For pods, see `pod_lists`.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from policygen.core.finding import At
from policygen.core.names import MANAGED_BY, SCHEDULER_CONTAINER, TOOL
from policygen.kubernetes import controllers
from policygen.kubernetes.cluster import KUEUE
from policygen.kubernetes.kueue_workloads import assigned_domains
from policygen.kubernetes.object import Object
from policygen.kubernetes.snapshot import NODE, GroupKind
from policygen.kubernetes.untyped import mapping, mappings, texts
from policygen.kubernetes.workloads import APP_WRAPPER, TEMPLATES, pod_templates, wrapped

WORKLOAD = GroupKind(KUEUE, "Workload")
CLAIM = GroupKind("", "PersistentVolumeClaim")
STORAGE_CLASS = GroupKind("storage.k8s.io", "StorageClass")
STATEFUL_SET = GroupKind("apps", "StatefulSet")
_OF_CLAIM = ("volumeName", "storageClassName", "accessModes", "volumeMode", "resources")
_PARTS: Mapping[GroupKind, tuple[str, ...]] = {
    GroupKind("", "PersistentVolume"): ("nodeAffinity", "storageClassName", "claimRef"),
    CLAIM: _OF_CLAIM,
    GroupKind("", "Service"): ("type", "clusterIP", "ipFamilies", "loadBalancerClass"),
    STORAGE_CLASS: (
        "provisioner", "reclaimPolicy", "volumeBindingMode", "allowVolumeExpansion",
        "allowedTopologies",
    ),
}  # fmt: skip
"""The fields that are kept of storage and Services."""

_COPIES = ("last-applied", "last-handled", "applied", "original")
"""The beginning, after the prefix, of annotations in which kubectl, kapp, Rancher, kopf and operators
store the object that they wrote, including its environment variables."""
_METADATA = (
    "name", "namespace", "uid", "labels", "annotations", "ownerReferences", "generation",
    "creationTimestamp", "deletionTimestamp",
)  # fmt: skip
_SPEC = {
    "nodeSelector", "affinity", "tolerations", "schedulerName", "priorityClassName", "priority",
    "restartPolicy", "topologySpreadConstraints", "resourceClaims", "resources", "overhead",
    "schedulingGates", "nodeName", "terminationGracePeriodSeconds", "hostNetwork",
    "runtimeClassName", "dnsPolicy",
}  # fmt: skip
"""Fields of a pod spec that are kept, in addition to containers and mounted ConfigMaps."""
_CONTAINER = ("name", "image", "resources", "restartPolicy", "ports")
_CONTAINERS = {"containers", "initContainers", "ephemeralContainers"}
_SECRET = {
    "env", "envFrom", "command", "args", "entrypoint", "runtimeEnvYAML", "serveConfigV2",
    "rayStartParams", "redisPassword", "volumes", "volumeMounts", "volumeClaimTemplates",
}  # fmt: skip
"""Keys that are dropped anywhere in an object with a pod template, except in its templates."""
_LABELS = ("metadata", "selector", "status")
"""Fields in which such a key is the key of a label."""


def projected(kind: GroupKind, data: dict[str, Any]) -> dict[str, Any]:
    """The part of an object that a snapshot keeps. Changes `data`, and can share parts with it."""
    metadata = data.get("metadata")
    if not isinstance(metadata, dict):
        return data
    _forget_copies(metadata)
    if kind == NODE:
        return _node(data, metadata)
    if kind == WORKLOAD:
        return _workload(data, metadata)
    if kind in _PARTS:
        return _parts(data, metadata, kind)
    if kind in TEMPLATES:
        claims = _claims(data) if kind == STATEFUL_SET else []
        if kind.kind == APP_WRAPPER:
            _forget_components(data)
        kept = _with_templates(data, metadata)
        if claims and isinstance(kept.get("spec"), dict):
            kept["spec"]["volumeClaimTemplates"] = claims
        return kept
    return data


def _forget_copies(metadata: Mapping[str, Any]) -> None:
    annotations = metadata.get("annotations")
    if isinstance(annotations, dict):
        for name in [it for it in annotations if it.rpartition("/")[2].startswith(_COPIES)]:
            del annotations[name]


def _forget_components(data: Mapping[str, Any]) -> None:
    """Leave only the identity of the objects in an AppWrapper that create no pods, such as Secrets."""
    for it in wrapped(data):
        kept, makes_pods = _identity(it.data), (it.group, it.kind) in TEMPLATES
        kept["metadata"] = _only(
            mapping(it.data, "metadata"), _METADATA if makes_pods else ("name",)
        )
        _forget_copies(kept["metadata"])
        if not makes_pods:
            it.data.clear()
        it.data.update(kept)


def _node(data: Mapping[str, Any], metadata: Mapping[str, Any]) -> dict[str, Any]:
    status, spec = mapping(data.get("status")), mapping(data.get("spec"))
    return {
        **_identity(data),
        "metadata": _only(metadata, ("name", "uid", "labels", "creationTimestamp")),
        "spec": _only(spec, ("taints", "unschedulable")),
        "status": {
            **_only(status, ("allocatable", "capacity")),
            "conditions": [
                _only(condition, ("type", "status", "reason", "lastTransitionTime"))
                for condition in mappings(status.get("conditions"))
                if condition.get("type") == "Ready"
            ],
        },
    }


def _claims(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The names and sizes of the claims that a StatefulSet creates."""
    return [
        {
            "metadata": _only(mapping(claim.get("metadata")), ("name",)),
            "spec": _only(mapping(claim.get("spec")), _OF_CLAIM),
        }
        for claim in mappings(mapping(data.get("spec")).get("volumeClaimTemplates"))
    ]


def _parts(data: Mapping[str, Any], metadata: Mapping[str, Any], kind: GroupKind) -> dict[str, Any]:
    """A volume, claim, class or Service, without its source, parameters and secrets."""
    kept = {**_identity(data), "metadata": _only(metadata, _METADATA)}
    if "spec" in data:
        kept["spec"] = _only(mapping(data.get("spec")), _PARTS[kind])
        if kept["spec"].get("claimRef"):  # the claim may not exist, and is not read here
            kept["spec"]["claimRef"] = {"kind": "PersistentVolumeClaim"}
        if kind == CLAIM:
            kept["status"] = _only(mapping(data.get("status")), ("phase", "capacity"))
    elif kind == STORAGE_CLASS:
        data = {"allowVolumeExpansion": False, **data}
    return kept | _only(data, () if "spec" in data else _PARTS[kind])


def _workload(data: Mapping[str, Any], metadata: Mapping[str, Any]) -> dict[str, Any]:
    """A Workload of Kueue, without its templates, since its owner has them."""
    spec, status = dict(mapping(data.get("spec"))), dict(mapping(data.get("status")))
    spec["podSets"] = [
        _only(pod_set, ("name", "count", "minCount", "topologyRequest"))
        for pod_set in mappings(spec.get("podSets"))
    ]
    admission = status.get("admission")
    if isinstance(admission, dict):
        status["admission"] = {
            **admission,
            "podSetAssignments": [
                _assignment(it) for it in mappings(admission.get("podSetAssignments"))
            ],
        }
    metadata = _only(metadata, _METADATA)
    return {**_identity(data), "metadata": metadata, "spec": spec, "status": status}


def _assignment(assignment: Mapping[str, Any]) -> dict[str, Any]:
    """The assignment of a pod set. Domains are listed one by one, so that their names can be redacted."""
    placed = assignment.get("topologyAssignment")
    if not isinstance(placed, dict):
        return dict(assignment)
    domains = [
        {"values": list(values), "count": count} for values, count in assigned_domains(placed)
    ]
    return {
        **assignment,
        "topologyAssignment": {"levels": placed.get("levels"), "domains": domains},
    }


def _with_templates(data: dict[str, Any], metadata: dict[str, Any]) -> dict[str, Any]:
    """An object with pod templates: the parts of the templates that rules read, without secrets."""
    labels = mapping(metadata.get("labels"))
    is_ours = labels.get(MANAGED_BY) == TOOL
    if not is_ours:
        data["metadata"] = _only(metadata, _METADATA)
    workload = Object.read(data, At(0))
    keep: Callable[[dict[str, Any]], dict[str, Any]] = _without_values if is_ours else _requests
    if workload is not None:
        for _, template in pod_templates(workload):
            spec = template.get("spec")
            _forget_copies(mapping(template.get("metadata")))
            if isinstance(spec, dict) and isinstance(template, dict):
                template["spec"] = _Kept(keep(spec))
    return {key: _scrubbed(value) for key, value in data.items()} if not is_ours else data


class _Kept(dict[str, Any]):
    """A pod spec without secrets."""


def _requests(spec: dict[str, Any]) -> dict[str, Any]:
    """The requests of a pod spec, and the names of environment variables, which rules read."""
    short = {key: value for key, value in spec.items() if key in _SPEC}
    for key in ("containers", "initContainers"):
        listed = spec.get(key)
        if listed is not None:
            short[key] = [
                {**_only(container, _CONTAINER), **_environment(container), **_gates(container)}
                for container in mappings(listed)
            ]
    kept = [
        {"name": volume.get("name"), **found}
        for volume in mappings(spec.get("volumes"))
        if (found := _volume(volume))
    ]
    if kept:
        short["volumes"] = kept
    return short


def _volume(volume: Mapping[str, Any]) -> dict[str, Any]:
    """The ConfigMap, claim or StorageClass of a volume; empty for another source."""
    if "configMap" in volume:
        return {"configMap": _only(mapping(volume, "configMap"), ("name",))}
    if "persistentVolumeClaim" in volume:
        claim = _only(mapping(volume, "persistentVolumeClaim"), ("claimName",))
        return {"persistentVolumeClaim": claim}
    if "ephemeral" in volume:
        claim = mapping(volume, "ephemeral", "volumeClaimTemplate", "spec")
        inner = {"spec": _only(claim, ("storageClassName",))}
        return {"ephemeral": {"volumeClaimTemplate": inner}}
    return {}


def _without_values(spec: dict[str, Any]) -> dict[str, Any]:
    """A pod spec that we rendered: complete, except for parts that other tools can add."""
    for key in _CONTAINERS & spec.keys():
        spec[key] = [without_values(each) for each in mappings(spec[key])]
    return spec


def without_values(container: Mapping[str, Any]) -> dict[str, Any]:
    """A container in a rendered object. Containers of other tools are kept without their command."""
    if container.get("name") != SCHEDULER_CONTAINER:
        return {**_only(container, _CONTAINER), **_environment(container)}
    fields = {key: value for key, value in container.items() if key != "envFrom"}
    return {**fields, **_environment(container)}


def _environment(container: Mapping[str, Any]) -> dict[str, Any]:
    if "env" not in container:
        return {}
    return {"env": [{"name": each.get("name")} for each in mappings(container["env"])]}


def _gates(container: Mapping[str, Any]) -> dict[str, Any]:
    """The feature gates on the command line of a controller."""
    if controllers.component(container.get("image")) is None:
        return {}
    found = {
        key: ",".join(
            f"{gate}={str(is_on).lower()}"
            for gate, is_on in controllers.gates(texts(container, key)).items()
        )
        for key in controllers.COMMAND_LINE
    }
    return {key: [f"{controllers.FLAG}={text}"] for key, text in found.items() if text}


def _scrubbed(value: Any) -> Any:
    if isinstance(value, _Kept):
        return dict(value)
    if isinstance(value, dict):
        _forget_copies(mapping(value, "metadata"))  # for a Job inside a JobSet
        return {
            key: inner if key in _LABELS else _scrubbed(inner)
            for key, inner in value.items()
            if key not in _SECRET
        }
    if isinstance(value, list):
        return [_scrubbed(each) for each in value]
    return value


def _identity(data: Mapping[str, Any]) -> dict[str, Any]:
    return {"apiVersion": data.get("apiVersion"), "kind": data.get("kind")}


def _only(data: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    return {key: data[key] for key in keys if key in data}
