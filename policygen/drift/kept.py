"""The part of a manifest that can be compared with a snapshot, which keeps only parts of some objects."""

import copy
from collections.abc import Mapping
from typing import Any

from policygen.client.projection import projected
from policygen.core.names import MANAGED_BY
from policygen.kubernetes.object import Object
from policygen.kubernetes.snapshot import POD, GroupKind
from policygen.kubernetes.untyped import keyed_texts, text


def kept(data: dict[str, Any], held: Object) -> dict[str, Any]:
    """The part of a manifest that a snapshot keeps of such an object."""
    kind = GroupKind(held.group, held.kind)
    if kind == POD:
        return _common(data, held.data)
    labels = keyed_texts(data, "metadata", "labels")
    if labels.get(MANAGED_BY) != held.labels.get(MANAGED_BY):
        return _common(data, held.data)
    return projected(kind, copy.deepcopy(data))


def _common(data: Mapping[str, Any], held: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a manifest that the snapshot has too."""
    return {key: _visible(it, held[key], key) for key, it in data.items() if key in held}


_PARTIAL = {"volumes", "env"}
"""Lists of which a snapshot can omit entries."""


def _visible(data: Any, held: Any, key: str) -> Any:
    if not held and isinstance(held, list | dict | str):
        return held  # it may be missing only in the snapshot
    if isinstance(data, dict) and isinstance(held, dict):
        return _common(data, held)
    if isinstance(data, list) and isinstance(held, list):
        by_name = {text(it, "name"): it for it in held if text(it, "name")}
        if by_name and all(text(it, "name") for it in data):
            known = (it for it in data if it["name"] in by_name or key not in _PARTIAL)
            return [_common(it, by_name.get(it["name"], it)) for it in known]
        if len(data) == len(held):
            return [_visible(*pair, key) for pair in zip(data, held, strict=True)]
    return data
