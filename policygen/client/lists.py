"""Items of a server's lists, as types with only the fields that rules need, since decoding is slow.

Pods have separate types in `pod_lists`.
"""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import UNSET, Struct

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
    unschedulable: Any = UNSET


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

    api_version: Any = msgspec.field(name="apiVersion", default=UNSET)
    kind: Any = UNSET
    metadata: _NodeMeta | None = None
    spec: _NodeSpec | None = None
    status: _NodeStatus | None = None


class _ListedMaker(Struct):
    """An object with a pod template in the list of a server; managedFields are half of its size."""

    metadata: dict[str, msgspec.Raw]
    api_version: Any = msgspec.field(name="apiVersion", default=UNSET)
    kind: Any = UNSET
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
        labels = mapping(_decoded(item.metadata.get("labels")))
        is_ours = labels.get(MANAGED_BY) == TOOL
        data = {
            "apiVersion": item.api_version,
            "kind": item.kind,
            "spec": item.spec,
            "status": item.status,
        }
        return {
            "metadata": {
                name: _decoded(raw)
                for name, raw in item.metadata.items()
                if name != "managedFields" or is_ours
            },
            **{name: value for name, value in data.items() if value is not UNSET},
        }
    return dict(item)


def _decoded(raw: msgspec.Raw | None) -> Any:
    return None if raw is None else msgspec.json.decode(raw)  # noqa: TID251 - without a type
