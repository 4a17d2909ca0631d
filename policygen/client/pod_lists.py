"""Pods of a server's list: the fields to decode, and the rows that are kept."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import count
from typing import Any

import msgspec
from msgspec import Struct, field

from policygen.core.decoding import decode, decoder
from policygen.kubernetes.snapshot import NODE, Owner, Pod
from policygen.kubernetes.typed import decoded
from policygen.kubernetes.workloads import TEMPLATES, PodSpec

_KEY_PREFIXES = (
    "kueue.x-k8s.io/",
    "scheduling.k8s.io/",
    "scheduling.volcano.sh/",
    "volcano.sh/",
    "scheduling.x-k8s.io/",
    "kai.scheduler/",
    "policygen.dev/",
)
"""Prefixes of the labels and annotations that are kept for every pod."""


class _PodMeta(Struct):
    """Metadata of a pod."""

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


class _SharedPodSpec(Struct, rename="camel", omit_defaults=True):
    """The part of a spec that pods share."""

    containers: list[_Container] = field(default_factory=list)
    init_containers: list[_Container] = field(default_factory=list)
    node_selector: dict[str, str] = field(default_factory=dict)
    affinity: dict[str, Any] = field(default_factory=dict)
    tolerations: list[dict[str, Any]] = field(default_factory=list)
    scheduler_name: str = ""
    priority_class_name: str = ""
    runtime_class_name: str = ""
    restart_policy: str = ""
    topology_spread_constraints: list[dict[str, Any]] = field(default_factory=list)
    resource_claims: list[dict[str, Any]] = field(default_factory=list)
    resources: _Resources = field(default_factory=_Resources)
    overhead: dict[str, Any] = field(default_factory=dict)


class _ClaimSource(Struct, rename="camel", omit_defaults=True):
    claim_name: str = ""


class _ClaimSpec(Struct, rename="camel", omit_defaults=True):
    storage_class_name: str = ""


class _ClaimTemplate(Struct, omit_defaults=True):
    spec: _ClaimSpec | None = None


class _Ephemeral(Struct, rename="camel", omit_defaults=True):
    volume_claim_template: _ClaimTemplate | None = None


class _Volume(Struct, rename="camel", omit_defaults=True):
    name: str = ""
    persistent_volume_claim: _ClaimSource | None = None
    ephemeral: _Ephemeral | None = None


class _ListedPodSpec(_SharedPodSpec):
    """A spec with the fields that differ between pods."""

    volumes: list[_Volume] = field(default_factory=list)
    """Only objects of pods without an owner keep them."""
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
    message: str = ""


class _PodStatus(Struct, rename="camel"):
    phase: str = ""
    conditions: tuple[_Condition, ...] = ()
    container_statuses: tuple[_ContainerStatus, ...] = ()
    init_container_statuses: tuple[_ContainerStatus, ...] = ()


class ListedPod(Struct):
    """A pod in the list of a server, with the fields to decode."""

    metadata: _PodMeta
    spec: _ListedPodSpec
    status: _PodStatus = field(default_factory=_PodStatus)
    api_version: str = field(name="apiVersion", default="")
    kind: str = ""


class Pods:
    """Rows for the pods of a document; pods share equal parts."""

    def __init__(self, document: int = 0) -> None:
        self._document = document
        self._numbers = count()
        self._specs: dict[bytes, PodSpec] = {}
        self._owners: dict[_Owner, Owner] = {}
        self._times: dict[datetime, datetime] = {}
        self._texts: dict[str, str] = {}
        self._mappings: dict[tuple[tuple[str, str], ...], dict[str, str]] = {}
        self._encode = msgspec.json.Encoder().encode
        self._decode = decoder(PodSpec, decoded).decode

    def row(self, listed: ListedPod) -> Pod:
        """The row of the next pod. Raises msgspec.ValidationError for an invalid quantity."""
        metadata, status = listed.metadata, listed.status
        unscheduled = _unscheduled(status.conditions)
        return Pod(
            document=self._document,
            number=next(self._numbers),
            namespace=self._text(metadata.namespace),
            name=metadata.name,
            spec=self._spec(listed.spec),
            node=self._text(listed.spec.node_name),
            phase=self._text(status.phase),
            owner=self._owner(metadata.owners),
            labels=self._selected(metadata.labels),
            annotations=self._selected(metadata.annotations),
            created=self._time(metadata.created),
            deleted=self._time(metadata.deleted),
            gates=tuple(gate.name for gate in listed.spec.scheduling_gates),
            waiting=_waiting((*status.init_container_statuses, *status.container_statuses)),
            unscheduled=(unscheduled.reason or "Unknown") if unscheduled else "",
            unscheduled_why=self._text(_first(unscheduled.message)) if unscheduled else "",
        )

    def _spec(self, spec: _ListedPodSpec) -> PodSpec:
        key = self._encode(
            _SharedPodSpec(*(getattr(spec, name) for name in _SharedPodSpec.__struct_fields__))
        )
        found = self._specs.get(key)
        if found is None:
            found = self._specs[key] = self._decode(key)
        return found

    def _text(self, text: str) -> str:
        return self._texts.setdefault(text, text)

    def _time(self, time: datetime | None) -> datetime | None:
        return None if time is None else self._times.setdefault(time, time)

    def _owner(self, owners: Iterable[_Owner]) -> Owner | None:
        for owner in owners:
            if owner.controller:
                found = self._owners.get(owner)
                if found is None:
                    found = self._owners[owner] = Owner(
                        owner.api_version, owner.kind, owner.name, owner.uid
                    )
                return found
        return None

    def _selected(self, texts: Mapping[str, str]) -> dict[str, str]:
        selected = tuple(it for it in texts.items() if it[0].startswith(_KEY_PREFIXES))
        found = self._mappings.get(selected)
        if found is None:
            found = self._mappings[selected] = dict(selected)
        return found


def unowned(listed: ListedPod, pod: Pod) -> dict[str, Any] | None:
    """The data of a pod without an owner; None if it has an owner or has finished.

    Owners are objects with a pod template, and nodes for their static pods.
    """
    if pod.done:
        return None
    if pod.owner is not None:
        group = pod.owner.api_version.rpartition("/")[0]
        if (group, pod.owner.kind) in TEMPLATES or (group, pod.owner.kind) == NODE:
            return None
    metadata: dict[str, Any] = {
        "name": pod.name,
        "namespace": pod.namespace,
        "labels": listed.metadata.labels,
        "annotations": dict(pod.annotations),
    }
    # Objects have lists, where the struct has tuples.
    spec = decode(msgspec.json.encode(listed.spec), dict[str, Any])
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def _unscheduled(conditions: Iterable[_Condition]) -> _Condition | None:
    for condition in conditions:
        if condition.type == "PodScheduled" and condition.status == "False":
            return condition
    return None


def _first(message: str) -> str:
    """The scheduler's message about nodes, without its message about preemption."""
    return message.partition(". preemption:")[0].rstrip(". ")


def _waiting(statuses: Iterable[_ContainerStatus]) -> str:
    for container in statuses:
        if container.state and container.state.waiting and container.state.waiting.reason:
            return container.state.waiting.reason
    return ""
