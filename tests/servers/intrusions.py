"""Changes that another user can make to our objects on a cluster, and where each must be reported."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import yaml

from policygen.api_validation import schemas
from policygen.core.finding import Path

from .client import Answer, Client, Object
from .kubectl import JSON_PATCH

ELSEWHERE = frozenset({"apiVersion", "kind", "metadata", "status"})
DELETED = frozenset({
    "PriorityClass", "WorkloadPriorityClass", "Cohort", "ClusterQueue", "LocalQueue", "ResourceQuota", "LimitRange",
    "ServiceAccount", "Role", "RoleBinding", "ClusterRoleBinding", "ConfigMap", "Deployment", "PodGroup",
})  # fmt: skip
"""Kinds that go at once; others wait for what uses them."""
COPIED = frozenset({"PriorityClass", "WorkloadPriorityClass", "ResourceFlavor", "Cohort", "ClusterQueue", "LocalQueue"})  # fmt: skip
"""Kinds of which one more object does no harm."""
FROZEN: dict[str, Path] = {
    "PriorityClass": ("value",),
    "LocalQueue": ("spec", "clusterQueue"),
    "RoleBinding": ("roleRef", "name"),
    "ClusterRoleBinding": ("roleRef", "name"),
}
"""A field that is changed only by making the object anew."""
UNWRITTEN = (("Queue", "spec", "reclaimable", True), ("Queue", "spec", "parent", "root"))
"""What Volcano's controller takes for granted and its webhook writes only on create."""
LABELS = ("app.kubernetes.io/managed-by", "policygen.dev/set")


class Intrusion(NamedTuple):
    """One thing that is done, as a field manager."""

    what: str
    rule: str
    path: Path | None
    """Where it must show: in the object as it is then; None: at the object as a whole."""
    do: Callable[[Client, str, Object], Answer]
    gone: bool = False
    """The object is deleted, so no field has an author."""
    copy: str = ""
    """The name of the object that it makes."""


def intrusions(found: Object, number: int) -> list[Intrusion]:
    """Everything that can be tried on an object of the cluster."""
    kind = found["kind"]
    made = [*_changes(found), *_additions(found)]
    labels = found["metadata"]["labels"]
    for name in LABELS:
        path: Path = ("metadata", "labels", name)
        rename = _patch([{"op": "replace", "path": _pointer(path), "value": "others"}])
        made.append(Intrusion(f"rename {name}", "object-managed-by-another", path, rename))
        assert name in labels
        remove = _patch([{"op": "remove", "path": _pointer(path)}])
        made.append(Intrusion(f"remove {name}", "field-drifted", path, remove, gone=True))
    if kind in DELETED:
        made.append(Intrusion("delete", "object-missing", None, _delete, gone=True))
    if kind in COPIED:
        name = f"stray-{number}"
        made.append(Intrusion("copy", "object-orphaned", None, _copy(name), copy=name))
    if kind in FROZEN:
        path = FROZEN[kind]
        made.append(
            Intrusion(f"make anew with another {path[-1]}", "field-drifted", path, _anew(path))
        )
    return made


def _changes(found: Object) -> Iterator[Intrusion]:
    """Values that change and that go away."""
    for path, value in _leaves(found):
        if found["kind"] == "ConfigMap" and isinstance(value, str) and "\n" in value:
            yield from _in_text(path, value)
            continue
        if not isinstance(value, dict | list):
            other = _other(value, _schema(found, path))
            change = _patch([{"op": "replace", "path": _pointer(path), "value": other}])
            yield Intrusion(f"{path} = {other!r}", "field-drifted", path, change)
        if (found["kind"], *path) == ("PodGroup", "spec"):
            continue  # Volcano's scheduler writes it anew at some time
        if (found["kind"], *path, value) not in UNWRITTEN:
            remove = _patch([{"op": "remove", "path": _pointer(path)}])
            yield Intrusion(f"remove {path}", "field-drifted", path, remove, gone=True)


def _additions(found: Object) -> Iterator[Intrusion]:
    """Fields that the schema knows and the object has not."""
    for path, value in [((), found), *_leaves(found)]:
        if not isinstance(value, dict):
            continue
        schema = _schema(found, path)
        known = {
            name: part
            for name, part in schema.get("properties", {}).items()
            if name not in value and not (path == () and name in ELSEWHERE)
        }
        if schema.get("additionalProperties"):
            known["example.com/widget"] = schema["additionalProperties"]
        for name, part in known.items():
            made = _new(part)
            if made is not None and made != part.get("default"):
                place: Path = (*path, name)
                add = _patch([{"op": "add", "path": _pointer(place), "value": made}])
                yield Intrusion(f"add {place} = {made!r}", "field-drifted", place, add)


def _new(schema: dict[str, Any]) -> Any:
    if "enum" in schema:
        return schema["enum"][-1]
    if schema.get("x-kubernetes-int-or-string") or schema.get("x-policygen-type") == "quantity":
        return "3"
    return {"integer": 7, "boolean": True, "string": "stranger"}.get(schema.get("type", ""))


def _other(value: Any, schema: dict[str, Any]) -> Any:
    if "enum" in schema:
        return next(each for each in (*schema["enum"], "stranger") if each != value)
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if _new(schema) == "3":
        return "5" if value != "5" else "6"
    return f"{value}x"


def _in_text(path: Path, text: str) -> Iterator[Intrusion]:
    """Changes inside a file that a ConfigMap holds."""
    document = yaml.load(text, Loader=yaml.CSafeLoader)
    for inner, value in _walk(document, ()):
        if isinstance(value, dict | list):
            continue
        changed = copy.deepcopy(document)
        node, shown = changed, list(path)
        for step in inner[:-1]:
            shown.append(str(step) if isinstance(node, dict) else step)  # a key can be a number
            node = node[step]
        shown.append(str(inner[-1]) if isinstance(node, dict) else inner[-1])
        node[inner[-1]] = _other(value, {})
        written = yaml.safe_dump(changed, sort_keys=False)
        patch = _patch([{"op": "replace", "path": _pointer(path), "value": written}])
        yield Intrusion(f"in {path}: {inner}", "field-drifted", tuple(shown), patch)


def _leaves(found: Object) -> Iterator[tuple[Path, Any]]:
    """Every place under our fields, mappings and lists too."""
    for name, value in found.items():
        if name not in ELSEWHERE and (found["kind"], name) != ("Namespace", "spec"):
            yield (name,), value
            yield from _walk(value, (name,))


def _walk(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    entries: Any = ()
    if isinstance(value, dict):
        entries = value.items()
    elif isinstance(value, list):
        entries = enumerate(value)
    for key, each in entries:
        yield (*path, key), each
        yield from _walk(each, (*path, key))


def _schema(found: Object, path: Path) -> dict[str, Any]:
    served = schemas.served(found["apiVersion"], found["kind"])
    schema: dict[str, Any] = served.schema if served else {}
    for step in path:
        if isinstance(step, int):
            schema = schema.get("items", {})
        else:
            other = schema.get("additionalProperties") or {}
            schema = schema.get("properties", {}).get(step, other)
    return schema


def _pointer(path: Path) -> str:
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in path)


def _path(client: Client, thing: Object) -> str:
    metadata = thing["metadata"]
    resource = client.resource(thing["apiVersion"], thing["kind"])
    return resource.path(metadata.get("namespace"), metadata["name"])


def _patch(operations: list[dict[str, Any]]) -> Callable[[Client, str, Object], Answer]:
    def do(client: Client, manager: str, thing: Object) -> Answer:
        return client.request(
            "PATCH",
            _path(client, thing),
            json.dumps(operations),
            content_type=JSON_PATCH,
            query={"fieldManager": manager, "fieldValidation": "Strict"},
        )

    return do


def _delete(client: Client, _: str, thing: Object) -> Answer:
    return client.request("DELETE", _path(client, thing), {"propagationPolicy": "Background"})


def _bare(thing: Object) -> Object:
    kept = ("name", "namespace", "labels", "annotations")
    made = {key: value for key, value in thing.items() if key != "status"}
    made["metadata"] = {key: thing["metadata"][key] for key in kept if key in thing["metadata"]}
    return copy.deepcopy(made)


def _create(client: Client, manager: str, thing: Object) -> Answer:
    resource = client.resource(thing["apiVersion"], thing["kind"])
    path = resource.path(thing["metadata"].get("namespace"))
    return client.request("POST", path, thing, query={"fieldManager": manager})


def _copy(name: str) -> Callable[[Client, str, Object], Answer]:
    def do(client: Client, manager: str, thing: Object) -> Answer:
        made = _bare(thing)
        made["metadata"]["name"] = name
        return _create(client, manager, made)

    return do


def _anew(path: Path) -> Callable[[Client, str, Object], Answer]:
    def do(client: Client, manager: str, thing: Object) -> Answer:
        made = _bare(thing)
        holder = made
        for step in path[:-1]:
            holder = holder[step]
        value = holder[path[-1]]
        holder[path[-1]] = value + 1 if isinstance(value, int) else f"{value}x"
        answer = _delete(client, manager, thing)
        return _create(client, manager, made) if answer.ok else answer

    return do
