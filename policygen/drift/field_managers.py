"""Who wrote a field, and when: reads `metadata.managedFields`.

Source: sigs.k8s.io/structured-merge-diff fieldpath/serialize.go (FieldsV1). A set owns fields
(`f:name`), list entries by their keys (`k:{...}`), value (`v:...`) or number (`i:0`), and `.`, the
entry itself. The owner of a leaf owns everything below it only if the schema makes it atomic.
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from msgspec import Struct

from policygen.api_validation import schemas
from policygen.api_validation.structural import Schema, below
from policygen.core.finding import At, Path, at_path
from policygen.kubernetes.object import Object
from policygen.kubernetes.renames import written
from policygen.kubernetes.untyped import mappings


class Author(Struct, frozen=True):
    """A field manager, and its last write."""

    manager: str
    operation: str
    """`Update` or `Apply`."""
    time: str
    """RFC 3339, as the server sends it; empty if unknown."""
    subresource: str = ""

    def __str__(self) -> str:
        by = f"{self.manager} ({self.operation}"
        by += f" of {self.subresource})" if self.subresource else ")"
        return f"{by}, at {self.time}" if self.time else by


def authors(found: dict[str, Any], path: Path, *, gone: bool = False) -> tuple[Author, ...]:
    """The owners of a field of an object, or of fields below it; the last writer is first.

    Empty if the server does not know them: for values that the server set itself, without
    managedFields, and for a removed field (`gone`) without an atomic parent.
    """
    owners = [_author(entry) for entry in _entries(found) if _owns(entry, found, path, gone=gone)]
    return tuple(sorted(owners, key=lambda it: it.time, reverse=True))


def first(found: dict[str, Any]) -> str:
    """When an object was created, and which of its current owners wrote first."""
    when = at_path(found, ("metadata", "creationTimestamp"))
    made = f"created at {when}" if when else "created at an unknown time"
    entries = [it for it in _entries(found) if not it.get("subresource")]
    if not entries:
        return made
    return f"{made}, first written by {min(map(_author, entries), key=lambda it: it.time)}"


def are_known(found: dict[str, Any]) -> bool:
    """Whether the object has managedFields."""
    return bool(_entries(found))


def _entries(found: dict[str, Any]) -> list[dict[str, Any]]:
    return mappings(found, "metadata", "managedFields")


def _author(entry: dict[str, Any]) -> Author:
    return Author(
        manager=str(entry.get("manager") or "a manager without a name"),
        operation=str(entry.get("operation") or ""),
        time=str(entry.get("time") or ""),
        subresource=str(entry.get("subresource") or ""),
    )


def _owns(entry: dict[str, Any], found: dict[str, Any], path: Path, *, gone: bool) -> bool:
    node: Any = entry.get("fieldsV1") or None
    api_version = str(entry.get("apiVersion") or found.get("apiVersion"))
    # An entry uses the field names of the API version in which its manager wrote.
    owned = Object(At(0), api_version, str(found.get("kind")), "", "", found)
    path = written(owned, path)
    served = schemas.served(api_version, owned.kind)
    schema: Schema = served.schema if served else {}
    data: Any = found
    for step in path[:-1] if gone else path:
        if node == {}:
            return _whole(schema, data)
        if not isinstance(node, dict):
            return False
        node = next((node[key] for key in _keys(node, data, step) if key in node), None)
        data = at_path(data, (step,))
        schema = below(schema, step)
    return node == {} and _whole(schema, data) if gone else isinstance(node, dict)


def _whole(schema: Schema, value: Any) -> bool:
    """Whether the owner of a field owns everything in it, not only the bare mapping or list."""
    if isinstance(value, list) or schema.get("type") == "array":
        return schema.get("x-kubernetes-list-type") not in {"map", "set"}
    if isinstance(value, dict) or schema.get("type") == "object":
        return schema.get("x-kubernetes-map-type") == "atomic"
    return True  # a text, which can contain a file


def _keys(node: dict[str, Any], data: Any, step: str | int) -> Iterator[str]:
    """The names that a set can have for the next step."""
    if isinstance(step, str):
        yield f"f:{step}"
        return
    yield f"i:{step}"
    item = at_path(data, (step,))
    for key in node:
        if key[:2] not in {"k:", "v:"} or item is None:
            continue
        with suppress(ValueError):
            named = json.loads(key[2:])
            if named == item if key[0] == "v" else _has(item, named):
                yield key


def _has(item: Any, named: Any) -> bool:
    """Whether a list entry has these keys."""
    if not isinstance(item, dict) or not isinstance(named, dict):
        return False
    return all(item.get(name) == value for name, value in named.items())
