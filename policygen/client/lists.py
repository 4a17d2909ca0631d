"""Items of a server's lists, as types with only the fields that rules need, since decoding is slow.

Pods have separate types in `pod_lists`.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from policygen.core.names import MANAGED_BY, TOOL
from policygen.kubernetes.snapshot import GroupKind
from policygen.kubernetes.untyped import mapping
from policygen.kubernetes.workloads import TEMPLATES


class _NodeMeta(Struct, rename="camel"):
    name: Any = UNSET
    uid: Any = UNSET
    labels: Any = UNSET
    creation_timestamp: Any = UNSET


class _NodeSpec(Struct):
    taints: Any = UNSET


class _NodeCondition(Struct, rename="camel"):
    type: Any = UNSET
    status: Any = UNSET
    reason: Any = UNSET
    last_transition_time: Any = UNSET


class _NodeStatus(Struct):
    allocatable: Any = UNSET
    capacity: Any = UNSET
    conditions: list[_NodeCondition] | None = None


class _ListedNode(Struct):
    """A node in the list of a server, without its images and other large fields."""

    metadata: _NodeMeta | None = None
    spec: _NodeSpec | None = None
    status: _NodeStatus | None = None


class _MakerMeta(Struct, rename="camel"):
    """All fields of API metadata, since rendered objects are kept completely."""

    name: Any = UNSET
    generate_name: Any = UNSET
    namespace: Any = UNSET
    self_link: Any = UNSET
    uid: Any = UNSET
    resource_version: Any = UNSET
    generation: Any = UNSET
    creation_timestamp: Any = UNSET
    deletion_timestamp: Any = UNSET
    deletion_grace_period_seconds: Any = UNSET
    labels: Any = UNSET
    annotations: Any = UNSET
    owner_references: Any = UNSET
    finalizers: Any = UNSET
    managed_fields: msgspec.Raw | UnsetType = UNSET


class _ListedMaker(Struct):
    """An object with a pod template in the list of a server, without managedFields, half of its size."""

    metadata: _MakerMeta
    spec: Any = UNSET
    status: Any = UNSET


_LISTED: Mapping[GroupKind, type] = {
    GroupKind("", "Node"): _ListedNode,
    **{GroupKind(*it): _ListedMaker for it in TEMPLATES},
}


def listed_as(kind: GroupKind) -> type:
    """The type for items of this kind in a server's list, with the fields to decode."""
    return _LISTED.get(kind, dict[str, Any])


def plain(item: Any) -> dict[str, Any]:
    """An item of such a type as data. Raises msgspec.DecodeError."""
    if isinstance(item, _ListedNode):
        data: dict[str, Any] = msgspec.to_builtins(item)
        return data
    if isinstance(item, _ListedMaker):
        metadata = _set(item.metadata)
        written = metadata.pop("managedFields", None)
        if written is not None and mapping(metadata, "labels").get(MANAGED_BY) == TOOL:
            metadata["managedFields"] = msgspec.json.decode(written)
        return {**_set(item), "metadata": metadata}
    return dict(item)


def _set(item: Struct) -> dict[str, Any]:
    """The fields that the item had."""
    values = ((name, getattr(item, field)) for field, name in _names(type(item)))
    return {name: value for name, value in values if value is not UNSET}


@cache
def _names(type_: type[Struct]) -> tuple[tuple[str, str], ...]:
    return tuple(zip(type_.__struct_fields__, type_.__struct_encode_fields__, strict=True))
