"""A JSON Schema by its parts: what it says about one place, and whether a value obeys that."""

import math
import re
from collections.abc import Iterator
from typing import Any

from jsonschema import Draft202012Validator, TypeChecker
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from policygen.core import quantity
from policygen.core.finding import Path

Json = dict[str, Any]


def _pattern(_: Any, pattern: str, instance: Any, __: Any) -> Iterator[ValidationError]:
    # `$` of Python also matches before a final line break, `$` of JSON Schema does not.
    if isinstance(instance, str) and not re.search(pattern.replace("$", r"\Z"), instance):
        yield ValidationError("does not match")


def _is_number(_: TypeChecker, instance: Any) -> bool:
    if isinstance(instance, bool) or not isinstance(instance, int | float):
        return False
    return math.isfinite(instance)


_extend: Any = extend  # untyped in types-jsonschema

Validator: Any = _extend(
    Draft202012Validator,
    {"pattern": _pattern},
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine("number", _is_number),
)
"""Draft 2020-12 where jsonschema and jsonschema-rs agree to the letter."""


def resolved(root: Json, schema: Json) -> Json:
    """A part of a schema, with what it refers to."""
    name = schema.get("$ref")
    if not name:
        return schema
    own = {keyword: value for keyword, value in schema.items() if keyword != "$ref"}
    return {**root["$defs"][name.rpartition("/")[2]], **own}


def find(root: Json, path: Path) -> Json | None:
    """What a schema says about the value at a path; None for one that it does not know."""
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
    if not Validator(schema).is_valid(value):
        return False
    if schema.get("format") == "kubernetes-quantity":
        try:
            quantity.parse(value)
        except ValueError:
            return False
    return True
