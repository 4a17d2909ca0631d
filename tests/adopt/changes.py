"""Draws changes of rendered objects, and finds what an adopted spec and its list lose of them."""

import copy
import json
from collections.abc import Iterator
from itertools import chain

import yaml
from msgspec import UNSET

from policygen.api_validation import schemas
from policygen.core import quantity
from policygen.core.finding import at_path
from policygen.core.names import MANAGED_BY, SET
from policygen.drift.defaults import filled

_FIXED = ({"apiVersion"}, {"kind"}, {"metadata", "name"}, {"metadata", "namespace"})
_OF_SET = ("metadata", "labels", SET), ("metadata", "labels", MANAGED_BY)


def changed(documents, random):
    """The documents with one drawn change, and its description."""
    made = copy.deepcopy(documents)
    index = random.randrange(len(made))
    document = made[index]
    name = f"{document['kind']} {document['metadata']['name']}"
    match random.choice(("leaf", "leaf", "removed", "added", "added", "gone", "new")):
        case "leaf":
            path, value = random.choice(list(_leaves(document)))
            at_path(document, path[:-1])[path[-1]] = _other(value, random)
        case "removed":
            path = random.choice(list(_keys(document)))
            del at_path(document, path[:-1])[path[-1]]
        case "added":
            path = _add(document, random)
        case "gone":
            del made[index]
            return made, f"{name} removed"
        case "new":
            document = copy.deepcopy(document)
            document["metadata"]["name"] += "-2"
            made.insert(index, document)
            return made, f"{name} copied"
    return made, f"{name} {path}"


def _is_fixed(path):
    return set(path) in _FIXED


def _leaves(data, path=()):
    for key, value in data.items() if isinstance(data, dict) else enumerate(data):
        below = (*path, key)
        if isinstance(value, dict | list) and value:
            yield from _leaves(value, below)
        elif not _is_fixed(below):
            yield below, value


def _keys(data, path=()):
    for key, value in data.items() if isinstance(data, dict) else enumerate(data):
        below = (*path, key)
        if not _is_fixed(below) and below != ("metadata",):
            yield below
        if isinstance(value, dict | list):
            yield from _keys(value, below)


def _other(value, random):
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + random.choice((-1, 1, 7))
    if isinstance(value, str) and value.isdigit():
        return str(int(value) + random.choice((1, 8)))
    return random.choice(("another", "8", "a100"))


def _add(document, random):
    """Add a field that the schema of the object has, a label or an annotation. Returns its path."""
    places = [it for it in _mappings(document) if it[0] and not _is_fixed((*it[0], "x"))]
    path, there, schema = random.choice([*places, (("metadata", "labels"), None, {})])
    missing = [
        key
        for key in schema.get("properties", {})
        if key not in there and path != ("metadata",) and (*path, key)[:1] != ("status",)
    ]
    if path[:1] == ("metadata",) or not missing:
        part = random.choice(("labels", "annotations"))
        document["metadata"].setdefault(part, {})["example.com/added"] = "yes"
        return ("metadata", part)
    key = random.choice(missing)
    there[key] = _made(schema["properties"][key], random)
    return (*path, key)


def _mappings(document):
    served = schemas.served(document["apiVersion"], document["kind"])
    yield from _with_schema(document, served.schema if served else {}, ())


def _with_schema(data, schema, path):
    if isinstance(data, dict):
        yield path, data, schema
        for key, value in data.items():
            below = schema.get("properties", {}).get(key, schema.get("additionalProperties"))
            yield from _with_schema(value, below if isinstance(below, dict) else {}, (*path, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from _with_schema(value, schema.get("items", {}), (*path, index))


def _made(schema, random):
    if "enum" in schema:
        return random.choice([it for it in schema["enum"] if it != schema.get("default")])
    match schema.get("type"):
        case "object" if "properties" in schema:
            keys = schema.get("required") or list(schema["properties"])[:1]
            return {it: _made(schema["properties"][it], random) for it in keys}
        case "object":
            return {"added": "3"}
        case "array":
            return [_made(schema.get("items", {}), random)]
        case "integer" | "number":
            return 3
        case "boolean":
            return not schema.get("default", False)
    return "3"


_GONE = ("the spec does not render this object", "policygen renders no object of kind")
_NAMES = {
    "ClusterQueue": {"cohortName": "Cohort"},
    "Cohort": {"parentName": "Cohort"},
    "LocalQueue": {"clusterQueue": "ClusterQueue"},
    "Queue": {"parent": "Queue"},
}


def lost(there, rendered, listed, renamed):
    """What the rendered objects and the list do not have of the objects that were read, in words.

    Each rendered object with what the list names must be the object that was read. `renamed` are the names
    in the spec, of which each is in the list of its object.
    """
    mine = {it.object.identity: it.object for it in rendered}
    of_object = {}
    for it in listed:
        of_object.setdefault(it.object, []).append(it)
    for found in there:
        named = of_object.get(str(found), [])
        name = renamed.get((found.kind, found.namespace, found.name), found.name)
        identity = (*found.identity[:-1], name)
        if any(it.message.startswith(_GONE) for it in named) or identity not in mine:
            if not named:
                yield f"{found} is neither rendered nor listed"
            continue
        if name != found.name and not any(it.field == "metadata.name" for it in named):
            yield f"{found} has another name, which is not listed"
        yield from _differing(found, mine.pop(identity), named, renamed)
    for it in mine.values():
        if str(it) not in of_object:
            yield f"{it} is rendered, and not listed"


def _differing(found, expected, named, renamed):
    """How an object differs from the rendered one after what the list names."""
    kind = expected.api_version, expected.kind
    one, other = (_texts_parsed(filled(it.data, *kind)) for it in (found, expected))
    for field, kind_of in _NAMES.get(found.kind, {}).items():
        key = kind_of, "", one.get("spec", {}).get(field)
        if key in renamed:
            one["spec"][field] = renamed[key]
    _apply(one, [it.of_field for it in named if it.of_field is not None])
    ours, theirs = (_normal(_texts_parsed(it), kind) for it in (one, other))
    if ours != theirs:
        yield f"{found}: {json.dumps(ours)} and not {json.dumps(theirs)}"


def _texts_parsed(data):
    """The object with the files inside a ConfigMap as data."""
    made = copy.deepcopy(data)
    if made["kind"] == "ConfigMap":
        for name, value in (made.get("data") or {}).items():
            parsed = yaml.safe_load(value) if isinstance(value, str) else value
            made["data"][name] = parsed if isinstance(parsed, dict) else value
    return made


def _apply(data, differences):
    """Change an object that was read to the rendered one, as a list of differences says."""
    removed = [it for it in differences if it.expected is UNSET]
    added = [it for it in differences if it.found is UNSET]
    for it in chain(
        (it for it in differences if UNSET not in (it.expected, it.found)),
        reversed(removed),
        added,
    ):
        above = data
        for key in it.path[:-1]:
            above = above.setdefault(key, {}) if isinstance(above, dict) else above[key]
        if it.expected is UNSET:
            del above[it.path[-1]]
        elif isinstance(above, list) and it.found is UNSET:
            above.insert(it.path[-1], it.expected)
        else:
            above[it.path[-1]] = it.expected


def _normal(data, kind):
    """An object in the form in which equal ones are equal, without what no spec is about."""
    served = schemas.served(*kind)
    schema = served.schema if served else {}
    made = _plain({key: value for key, value in data.items() if key != "status"}, schema)
    metadata = made.pop("metadata", {})
    for path in _OF_SET:
        metadata.get("labels", {}).pop(path[-1], None)
    parts = {it: metadata[it] for it in ("labels", "annotations") if metadata.get(it)}
    return {**made, "metadata": parts}


def _plain(value, schema):
    if isinstance(value, dict):
        known = schema.get("properties", {})
        value = {**_defaults(known), **{key: it for key, it in value.items() if it is not None}}
        other = schema.get("additionalProperties")
        other = other if isinstance(other, dict) else {}
        plain = {key: _plain(it, known.get(key, other)) for key, it in value.items()}
        return {key: it for key, it in sorted(plain.items()) if it not in ("", [], {})}
    if isinstance(value, list):
        return [_plain(it, schema.get("items", {})) for it in value]
    if isinstance(value, str):
        try:
            return str(quantity.read(value).value)
        except ValueError:
            return value
    return value if isinstance(value, bool) else str(value)


def _defaults(known) -> Iterator:
    return {key: it["default"] for key, it in known.items() if "default" in it}
