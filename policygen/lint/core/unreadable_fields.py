"""Messages about fields that could not be read: the path of the value, its type and the expected type."""

import re
from typing import Any

from policygen.core.finding import Path, at_path
from policygen.core.quoting import shown
from policygen.kubernetes.cluster import VOLCANO_CONFIGURATION
from policygen.kubernetes.typed import InvalidField

_REASON = re.compile(r"Expected (\w+)(?: \| null)?, got (\w+)")
_TYPES = {
    "array": "a list",
    "bool": "true or false",
    "float": "a number",
    "int": "an integer",
    "null": "null",
    "object": "a mapping",
    "str": "a string",
}
_MANY = ("array", "object")
_IGNORED = "the scheduler ignores this file and uses its built-in configuration"
_VOLCANOS = {
    "actions": 'actions: "enqueue, allocate, backfill"',
    "tiers": 'a list of tiers, each with the key "plugins:"',
    "plugins": 'each plugin as "name: gang"',
}
"""What the scheduler reads, by field."""


def described(malformed: InvalidField) -> tuple[Path, str]:
    """The path of a value of a wrong type, and a message about it."""
    match = _REASON.fullmatch(malformed.message)
    if match is None or not set(match.groups()) <= _TYPES.keys():
        return (
            malformed.path,
            malformed.message
            if "; " in malformed.message
            else f"{malformed.message}; correct the value",
        )
    expected, actual = match.groups()
    path, value = malformed.path, at_path(malformed.object.data, malformed.path)
    # Of a mapping with free keys, only one of its values is wrong.
    if isinstance(value, dict) and (malformed.beyond or actual != "object"):
        for key in value:
            found = at_path(value, (key, *malformed.beyond))
            if found is not None and _is_a(found, actual):
                path, value = (*path, key, *malformed.beyond), found
                break
    what = _TYPES[actual] if actual in _MANY else shown(value)
    field = next((step for step in reversed(path) if isinstance(step, str)), "")
    subject = f"an entry of {field}" if path and isinstance(path[-1], int) else field or "this file"
    message = f"{subject} is {what}, but must be {_TYPES[expected]}"
    if malformed.object.kind == VOLCANO_CONFIGURATION and (expected in _MANY or actual in _MANY):
        return path, f"{message}, so {_IGNORED}; write {_VOLCANOS.get(field, _TYPES[expected])}"
    if expected == "str" and actual not in _MANY:
        return path, f"{message}; put it in quotes"
    return path, f"{message}; write {_TYPES[expected]}"


def _is_a(value: Any, type_: str) -> bool:
    types = {
        "array": list,
        "bool": bool,
        "float": float,
        "int": int,
        "null": type(None),
        "object": dict,
        "str": str,
    }
    return type(value) is types[type_]
