"""What is kept of each object that a server lists: policy whole, the rest as far as rules read it.

Never kept: values of environment variables, commands and arguments of containers (but for the feature
gates of controllers), and the copy of an object that `kubectl apply` leaves in its annotations.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from itertools import count
from typing import Any

import msgspec
from msgspec import Struct, field

from policygen.cluster import controllers
from policygen.cluster.object import Object
from policygen.cluster.parts import mapping, mappings, texts
from policygen.cluster.seen import GroupKind, Owner, Pod
from policygen.cluster.view import KUEUE, decoded
from policygen.cluster.workload import SHAPES, PodSpec, found
from policygen.finding import At
from policygen.well_known import MANAGED_BY, TOOL

POD = GroupKind("", "Pod")
NODE = GroupKind("", "Node")
WORKLOAD = GroupKind(KUEUE, "Workload")
CONFIG_MAP = GroupKind("", "ConfigMap")

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_TOLD = (
    "kueue.x-k8s.io/",
    "scheduling.k8s.io/",
    "scheduling.volcano.sh/",
    "volcano.sh/",
    "scheduling.x-k8s.io/",
    "kai.scheduler/",
    "policygen.dev/",
)
"""How the labels and annotations begin that are kept of every pod."""
_METADATA = (
    "name", "namespace", "uid", "labels", "annotations", "ownerReferences", "generation",
    "creationTimestamp", "deletionTimestamp",
)  # fmt: skip
_SPEC = {
    "nodeSelector", "affinity", "tolerations", "schedulerName", "priorityClassName", "priority",
    "restartPolicy", "topologySpreadConstraints", "resourceClaims", "resources", "overhead",
    "schedulingGates", "nodeName", "terminationGracePeriodSeconds",
}  # fmt: skip
"""Of a pod's spec, beside its containers and the ConfigMaps that it mounts."""
_CONTAINER = ("name", "image", "resources", "restartPolicy")
_SECRET = {
    "env", "envFrom", "command", "args", "entrypoint", "runtimeEnvYAML", "serveConfigV2",
    "rayStartParams", "volumes", "volumeMounts", "volumeClaimTemplates",
}  # fmt: skip
"""Keys anywhere in what makes pods, outside of its templates, that are dropped."""
_LABELS = ("metadata", "selector", "status")
"""Where such a key is a label's."""


def kept(kind: GroupKind, data: dict[str, Any]) -> dict[str, Any]:
    """An object as a snapshot keeps it. It may share parts with `data`, which is changed."""
    metadata = data.get("metadata")
    if not isinstance(metadata, dict):
        return data
    annotations = metadata.get("annotations")
    if isinstance(annotations, dict):
        annotations.pop(LAST_APPLIED, None)
    if kind == NODE:
        return _node(data, metadata)
    if kind == WORKLOAD:
        return _workload(data, metadata)
    if kind in SHAPES:
        return _maker(data, metadata)
    return data


class _Meta(Struct):
    """Of a pod."""

    name: str = ""
    namespace: str = ""
    labels: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)
    owners: tuple["_Owner", ...] = field(default=(), name="ownerReferences")
    created: datetime | None = field(default=None, name="creationTimestamp")
    deleted: datetime | None = field(default=None, name="deletionTimestamp")


class _Owner(Struct, rename="camel", frozen=True):
    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool = False


class _Resources(Struct, omit_defaults=True):
    requests: dict[str, Any] = field(default_factory=dict)
    limits: dict[str, Any] = field(default_factory=dict)


class _Container(Struct, rename="camel", omit_defaults=True):
    name: str = ""
    image: str = ""
    resources: _Resources = field(default_factory=_Resources)
    restart_policy: str = ""


class _Gate(Struct):
    name: str = ""


class _Spec(Struct, rename="camel", omit_defaults=True):
    """What pods share."""

    containers: list[_Container] = field(default_factory=list)
    init_containers: list[_Container] = field(default_factory=list)
    node_selector: dict[str, str] = field(default_factory=dict)
    affinity: dict[str, Any] = field(default_factory=dict)
    tolerations: list[dict[str, Any]] = field(default_factory=list)
    scheduler_name: str = ""
    priority_class_name: str = ""
    restart_policy: str = ""
    topology_spread_constraints: list[dict[str, Any]] = field(default_factory=list)
    resource_claims: list[dict[str, Any]] = field(default_factory=list)
    resources: _Resources = field(default_factory=_Resources)
    overhead: dict[str, Any] = field(default_factory=dict)


class _OwnSpec(_Spec):
    """And what is each one's own."""

    node_name: str = ""
    scheduling_gates: tuple[_Gate, ...] = ()


class _Reason(Struct):
    reason: str = ""


class _State(Struct):
    waiting: _Reason | None = None


class _ContainerStatus(Struct):
    state: _State | None = None


class _Condition(Struct):
    type: str = ""
    status: str = ""
    reason: str = ""


class _Status(Struct, rename="camel"):
    phase: str = ""
    conditions: tuple[_Condition, ...] = ()
    container_statuses: tuple[_ContainerStatus, ...] = ()
    init_container_statuses: tuple[_ContainerStatus, ...] = ()


class ListedPod(Struct):
    """A pod in the list of a server: the fields that are decoded at all."""

    metadata: _Meta
    spec: _OwnSpec
    status: _Status = field(default_factory=_Status)


class Pods:
    """Rows for the pods of a document; pods that say the same share it."""

    def __init__(self, document: int = 0) -> None:
        self._document = document
        self._numbers = count()
        self._specs: dict[bytes, PodSpec] = {}
        self._owners: dict[_Owner, Owner] = {}
        self._times: dict[datetime, datetime] = {}
        self._texts: dict[str, str] = {}
        self._mappings: dict[tuple[tuple[str, str], ...], dict[str, str]] = {}
        self._encode = msgspec.json.Encoder().encode
        self._decode = msgspec.json.Decoder(PodSpec, dec_hook=decoded).decode

    def row(self, listed: ListedPod) -> Pod:
        """The row of the next pod. Raises msgspec.ValidationError for a quantity that is none."""
        metadata, status = listed.metadata, listed.status
        return Pod(
            document=self._document,
            number=next(self._numbers),
            namespace=self._text(metadata.namespace),
            name=metadata.name,
            spec=self._spec(listed.spec),
            node=self._text(listed.spec.node_name),
            phase=self._text(status.phase),
            owner=self._owner(metadata.owners),
            labels=self._told(metadata.labels),
            annotations=self._told(metadata.annotations),
            created=self._time(metadata.created),
            deleted=self._time(metadata.deleted),
            gates=tuple(gate.name for gate in listed.spec.scheduling_gates),
            waiting=_waiting((*status.init_container_statuses, *status.container_statuses)),
            unscheduled=next(
                (
                    each.reason or "Unknown"
                    for each in status.conditions
                    if each.type == "PodScheduled" and each.status == "False"
                ),
                "",
            ),
        )

    def _spec(self, spec: _OwnSpec) -> PodSpec:
        key = self._encode(_Spec(*(getattr(spec, name) for name in _Spec.__struct_fields__)))
        found = self._specs.get(key)
        if found is None:
            found = self._specs[key] = self._decode(key)
        return found

    def _text(self, text: str) -> str:
        return self._texts.setdefault(text, text)

    def _time(self, time: datetime | None) -> datetime | None:
        return None if time is None else self._times.setdefault(time, time)

    def _owner(self, owners: Iterable[_Owner]) -> Owner | None:
        for it in owners:
            if it.controller:
                found = self._owners.get(it)
                if found is None:
                    found = self._owners[it] = Owner(it.api_version, it.kind, it.name, it.uid)
                return found
        return None

    def _told(self, texts: Mapping[str, str]) -> dict[str, str]:
        told = tuple(it for it in texts.items() if it[0].startswith(_TOLD))
        found = self._mappings.get(told)
        if found is None:
            found = self._mappings[told] = dict(told)
        return found


def lone(listed: ListedPod, pod: Pod) -> dict[str, Any] | None:
    """The data of a pod that nothing else stands for; None for one that something does, or that ended.

    Another kind that makes pods stands for its own; a node stands for its static pods.
    """
    if pod.done:
        return None
    if pod.owner is not None:
        group = pod.owner.api_version.rpartition("/")[0]
        if (group, pod.owner.kind) in SHAPES or (group, pod.owner.kind) == NODE:
            return None
    metadata: dict[str, Any] = {
        "name": pod.name,
        "namespace": pod.namespace,
        "labels": listed.metadata.labels,
        "annotations": dict(pod.annotations),
    }
    spec = msgspec.to_builtins(listed.spec)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def _node(data: Mapping[str, Any], metadata: Mapping[str, Any]) -> dict[str, Any]:
    status, spec = mapping(data.get("status")), mapping(data.get("spec"))
    return {
        **_identity(data),
        "metadata": _only(metadata, ("name", "uid", "labels", "creationTimestamp")),
        "spec": _only(spec, ("taints",)),
        "status": {
            **_only(status, ("allocatable", "capacity")),
            "conditions": [
                _only(each, ("type", "status", "reason", "lastTransitionTime"))
                for each in mappings(status.get("conditions"))
                if each.get("type") == "Ready"
            ],
        },
    }


def _workload(data: Mapping[str, Any], metadata: Mapping[str, Any]) -> dict[str, Any]:
    """A Workload of Kueue: its templates are those of its owner."""
    spec, status = dict(mapping(data.get("spec"))), dict(mapping(data.get("status")))
    spec["podSets"] = [
        _only(each, ("name", "count", "minCount")) for each in mappings(spec.get("podSets"))
    ]
    admission = status.get("admission")
    if isinstance(admission, dict):
        status["admission"] = {
            **admission,
            "podSetAssignments": [
                {key: value for key, value in each.items() if key != "topologyAssignment"}
                for each in mappings(admission.get("podSetAssignments"))
            ],
        }
    metadata = _only(metadata, _METADATA)
    return {**_identity(data), "metadata": metadata, "spec": spec, "status": status}


def _maker(data: dict[str, Any], metadata: dict[str, Any]) -> dict[str, Any]:
    """What makes pods: its templates as far as they are read, and nothing secret beside them."""
    labels = mapping(metadata.get("labels"))
    ours = labels.get(MANAGED_BY) == TOOL
    if not ours:
        data["metadata"] = _only(metadata, _METADATA)
    it = Object.read(data, At(0))
    keep: Callable[[dict[str, Any]], dict[str, Any]] = _without_values if ours else _asked
    if it is not None:
        for _, template, _ in found(it):
            spec = template.get("spec")
            if isinstance(spec, dict) and isinstance(template, dict):
                template["spec"] = _Kept(keep(spec))
    return {key: _scrubbed(value) for key, value in data.items()} if not ours else data


class _Kept(dict[str, Any]):
    """A pod's spec that is scrubbed already."""


def _asked(spec: dict[str, Any]) -> dict[str, Any]:
    """Of a pod's spec what it asks for. Of the environment the names are kept, which rules read."""
    short = {key: value for key, value in spec.items() if key in _SPEC}
    for key in ("containers", "initContainers"):
        listed = spec.get(key)
        if listed is not None:
            short[key] = [
                {**_only(each, _CONTAINER), **_environment(each), **_gates(each)}
                for each in mappings(listed)
            ]
    mounted = [
        {"name": each.get("name"), "configMap": {"name": mapping(each["configMap"]).get("name")}}
        for each in mappings(spec.get("volumes"))
        if "configMap" in each
    ]
    if mounted:
        short["volumes"] = mounted
    return short


def _without_values(spec: dict[str, Any]) -> dict[str, Any]:
    """A pod's spec that we rendered: whole, but for what others may have put into its environment."""
    for key in ("containers", "initContainers"):
        for each in mappings(spec.get(key)):
            each.update(_environment(each))
            each.pop("envFrom", None)
    return spec


def _environment(container: Mapping[str, Any]) -> dict[str, Any]:
    if "env" not in container:
        return {}
    return {"env": [{"name": each.get("name")} for each in mappings(container["env"])]}


def _gates(container: Mapping[str, Any]) -> dict[str, Any]:
    """Of a controller's command line what it says of feature gates."""
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
        return {
            key: each if key in _LABELS else _scrubbed(each)
            for key, each in value.items()
            if key not in _SECRET
        }
    if isinstance(value, list):
        return [_scrubbed(each) for each in value]
    return value


def _waiting(statuses: Iterable[_ContainerStatus]) -> str:
    for each in statuses:
        if each.state and each.state.waiting and each.state.waiting.reason:
            return each.state.waiting.reason
    return ""


def _identity(data: Mapping[str, Any]) -> dict[str, Any]:
    return {"apiVersion": data.get("apiVersion"), "kind": data.get("kind")}


def _only(data: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    return {key: data[key] for key in keys if key in data}
