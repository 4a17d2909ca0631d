"""Parts of a JSON Schema: the schema of one path, and whether a value is valid by it."""

from typing import Any

from jsonschema_rs import Draft202012Validator

from policygen.core import quantity
from policygen.core.finding import Path

Json = dict[str, Any]


def resolved(root: Json, schema: Json) -> Json:
    """A part of a schema, with what it refers to."""
    name = schema.get("$ref")
    if not name:
        return schema
    own = {keyword: value for keyword, value in schema.items() if keyword != "$ref"}
    return {**root["$defs"][name.rpartition("/")[2]], **own}


def find(root: Json, path: Path) -> Json | None:
    """The schema of the value at a path; None for an unknown path."""
    schema = root
    for step in path:
        if isinstance(step, int):
            below = schema.get("items")
        else:
            below = schema.get("properties", {}).get(step) or schema.get("additionalProperties")
        if not below:
            return None
        schema = resolved(root, below)
    return schema


def types_of(schema: Json) -> tuple[str, ...]:
    """The types that a part of a schema allows by name."""
    named = schema.get("type", ())
    return (named,) if isinstance(named, str) else tuple(named)


def fits(schema: Json, value: Any) -> bool:
    """Whether a scalar obeys the part of a schema that is about it."""
    try:
        if not Draft202012Validator(schema).is_valid(value):
            return False
    except ValueError:
        return False  # JSON has no such value
    if schema.get("format") == "model-size":
        return isinstance(value, str) and not value.replace(".", "").isdigit()
    if schema.get("format") == "kubernetes-quantity":
        try:
            quantity.parse(value)
        except ValueError:
            return False
    return True
