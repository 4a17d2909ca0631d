"""Fields that could not be read, in words: where a value of a wrong type stands, and what is taken."""

import re
from typing import Any

from policygen.core.finding import Path, at_path
from policygen.core.quoting import shown
from policygen.kubernetes.cluster import VOLCANO_CONFIGURATION
from policygen.kubernetes.typed import Malformed

_REASON = re.compile(r"Expected (\w+), got (\w+)")
_TYPES = {
    "array": "a list",
    "bool": "true or false",
    "float": "a number",
    "int": "a whole number",
    "null": "nothing",
    "object": "a mapping",
    "str": "text",
}
_MANY = ("array", "object")
_DROPS = "the scheduler drops the whole file and runs with its built-in one"
_VOLCANOS = {
    "actions": 'actions: "enqueue, allocate, backfill"',
    "tiers": 'a list, each entry with "plugins:"',
    "plugins": 'each as "name: gang"',
}
"""What the scheduler reads, by the field."""


def worded(it: Malformed) -> tuple[Path, str]:
    """Where a value of a wrong type stands, and what is said of it."""
    match = _REASON.fullmatch(it.message)
    if match is None or not set(match.groups()) <= _TYPES.keys():
        return it.path, it.message if "; " in it.message else f"{it.message}; mend it"
    wanted, got = match.groups()
    path, value = it.path, at_path(it.object.data, it.path)
    if isinstance(value, dict) and got != "object":  # one of its values is meant
        path = (*path, *(key for key, each in value.items() if _is_a(each, got)))[: len(path) + 1]
        value = at_path(it.object.data, path)
    what = _TYPES[got] if got in _MANY else shown(value)
    message = f"{what} stands where {_TYPES[wanted]} is taken"
    if it.object.kind == VOLCANO_CONFIGURATION and (wanted in _MANY or got in _MANY):
        field = next((step for step in reversed(path) if isinstance(step, str)), "")
        return path, f"{message}; {_DROPS}; write {_VOLCANOS.get(field, _TYPES[wanted])}"
    if wanted == "str" and got not in _MANY:
        return path, f"{message}; put it in quotes"
    return path, f"{message}; write {_TYPES[wanted]}"


def _is_a(value: Any, type_: str) -> bool:
    of = {"array": list, "bool": bool, "float": float, "int": int, "null": type(None), "str": str}[
        type_
    ]
    return type(value) is of
