"""An object cannot be read, for a reason that no schema of ours knows."""

import re
from collections.abc import Iterator
from typing import Any

from policygen.cluster.reading import Malformed
from policygen.cluster.view import VOLCANO_CONFIGURATION
from policygen.finding import Path, Severity, at_path
from policygen.lint.refused import refused
from policygen.lint.rule import Claim, Facts, Family, Rule
from policygen.spec.echo import shown

_REASON = re.compile(r"Expected (\w+), got (\w+)")
_TYPES = {
    "array": "a list",
    "bool": "true or false",
    "float": "a number",
    "int": "a whole number",
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


def check(facts: Facts) -> Iterator[Claim]:
    """One claim per field; what the server's own schema refuses is told by other rules."""
    known = facts.cluster.derive(refused).objects
    for it in facts.cluster.malformed:
        if it.object.at not in known:
            path, message = _worded(it)
            yield Claim(f"{it.object}: {message}", it.object.at.to(*path))


def _worded(it: Malformed) -> tuple[Path, str]:
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
    of = {"array": list, "bool": bool, "float": float, "int": int, "str": str}[type_]
    return type(value) is of


RULE = Rule("malformed-object", Severity.ERROR, Family.INVALID, judges=(), check=check)
