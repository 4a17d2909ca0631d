"""The description of a field of a spec, from the JSON Schema of its kind, as `kubectl explain` has it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from policygen.core.errors import UsageError
from policygen.core.suggest import suggest
from policygen.spec import schema
from policygen.spec.forms import schema_names

Schema = Mapping[str, Any]


class SpecField(Struct, frozen=True):
    """A field of a kind of the spec."""

    name: str
    """Its last step; of an entry of a mapping with any keys `<key>`."""
    path: str
    """`ResourcePool.spec.gpu`."""
    type: str
    description: str
    required: bool
    default: str
    """As JSON; empty if the schema has none (the description may name one)."""
    allowed: tuple[str, ...]
    """Allowed values and bounds, in words."""
    examples: tuple[str, ...]
    children: tuple["SpecField", ...]


def find(path: str) -> SpecField:
    """The field of a path, `ResourcePool.spec.gpu`, in upper or lower case. Raises UsageError."""
    kinds = schema_names()
    kind = next((it for it in kinds if path.lower() == it.lower()), "") or next(
        (it for it in kinds if path.lower().startswith(f"{it.lower()}.")), ""
    )
    if not kind:
        word = path.partition(".")[0]
        raise UsageError(f'a spec has no kind "{word}"; {suggest(word, kinds, "kind")}')
    root = schema.read(kinds[kind])
    found = _field(kind, kind, root, root, required=True)
    rest = path[len(kind) :].replace("[]", "").strip(".")
    while rest:
        found, rest = _child(found, rest)
    return found


def _child(found: SpecField, rest: str) -> tuple[SpecField, str]:
    """The child at the begin of a path, and what follows it. Names of fields can contain dots."""
    for child in sorted(found.children, key=lambda it: -len(it.name)):
        if f"{rest}.".lower().startswith(f"{child.name}.".lower()):
            return child, rest[len(child.name) + 1 :]
    entry = next((it for it in found.children if it.name == "<key>"), None)
    if entry is not None:  # any key, such as a MIG profile
        return entry, rest.partition(".")[2] if entry.children else ""
    step, names = rest.partition(".")[0], [it.name for it in found.children]
    raise UsageError(f'{found.path} has no field "{step}"; {suggest(step, names, "field")}')


def is_kind(word: str) -> bool:
    """Whether a path begins with a kind of the spec."""
    return any(f"{word}.".lower().startswith(f"{it}.".lower()) for it in schema_names())


def paths(start: str) -> list[str]:
    """The paths that begin with a text, one step further than its last complete step."""
    whole, dot, _ = start.rpartition(".")
    if not dot:
        return [it for it in schema_names() if it.lower().startswith(start.lower())]
    try:
        children = find(whole).children
    except UsageError:
        return []
    return [it.path for it in children if it.path.lower().startswith(start.lower())]


def _field(name: str, path: str, node: Schema, root: Schema, *, required: bool) -> SpecField:
    node = _resolved(node, root)
    entries = _resolved(node["items"], root) if "items" in node else node
    needed = entries.get("required", ())
    children = [
        _field(key, f"{path}.{key}", child, root, required=key in needed)
        for key, child in entries.get("properties", {}).items()
    ]
    any_key = entries.get("additionalProperties")
    if isinstance(any_key, dict):
        children.append(_field("<key>", f"{path}.<key>", any_key, root, required=False))
    return SpecField(
        name=name,
        path=path,
        type=_type(node, root),
        description=str(node.get("description", "")),
        required=required,
        default=_json(node["default"]) if "default" in node else "",
        allowed=tuple(_allowed(node)),
        examples=tuple(_json(it) for it in node.get("examples", ())),
        children=tuple(children),
    )


def _resolved(node: Schema, root: Schema) -> Schema:
    """A node with what its `$ref` has, unless the node has it itself."""
    while "$ref" in node:
        target = root
        for step in node["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        node = {**target, **{key: value for key, value in node.items() if key != "$ref"}}
    return node


def _type(node: Schema, root: Schema) -> str:
    if node.get("format") == "kubernetes-quantity":
        return "quantity"
    if "const" in node:
        return "string"
    types: Any = node.get("type", "any")
    names = [types] if isinstance(types, str) else list(types)
    if names == ["array"]:
        return f"[]{_type(_resolved(node.get('items', {}), root), root)}"
    return " or ".join(names)


def _allowed(node: Schema) -> Iterator[str]:
    if "const" in node:
        yield _json(node["const"])
    if "enum" in node:
        yield "one of " + ", ".join(_json(it) for it in node["enum"])
    bounds: Sequence[tuple[str, str]] = (
        ("minimum", "at least {}"),
        ("maximum", "at most {}"),
        ("minItems", "at least {} entries"),
        ("maxItems", "at most {} entries"),
        ("minProperties", "at least {} keys"),
        ("maxProperties", "at most {} keys"),
        ("maxLength", "at most {} characters"),
        ("pattern", "matches {}"),
    )
    for key, words in bounds:
        if key in node:
            yield words.format(node[key])


def _json(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_json(it)}" for key, it in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_json, value)) + "]"
    return str(value)
