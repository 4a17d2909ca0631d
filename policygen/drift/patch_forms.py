"""Patches that fix an object, in the forms that kubectl accepts.

A patch of an object is a JSON patch (RFC 6902). Inside lists, where a place is an index, it first tests
the current value. If the object has changed, the server refuses the patch.
"""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from msgspec import UNSET

from policygen.core.finding import Path, pointer
from policygen.drift.compare import FieldDifference

Operation = dict[str, Any]

_CONTAINERS = ("containers", "initContainers")


def operations(
    expected: dict[str, Any], found: dict[str, Any], differences: Iterable[FieldDifference]
) -> list[Operation]:
    """The patch that removes these differences from the found object.

    A list whose entries are added, removed or moved is written completely, and so is a text that
    contains a file.
    """
    changes = dict(_change(expected, it) for it in differences)
    outer = [
        path for path in changes if not any(path[:length] in changes for length in range(len(path)))
    ]
    written: dict[Path, Any] = {}
    for path in outer:
        place, value = path, changes[path]
        if value is not UNSET:
            place, value = _parents(found, path, value)
        elif at(found, path) is UNSET:
            continue  # a default that code sets is removed with its parent
        written[place] = _merged(written[place], value) if place in written else value
    # First test that all values are unchanged, then change them.
    tests: list[Operation] = []
    for path in outer:
        if any(isinstance(step, int) for step in path) and (it := _test(found, path)) not in tests:
            tests.append(it)
    return [*tests, *(_written(found, path, value) for path, value in written.items())]


def alone(
    expected: dict[str, Any], found: dict[str, Any], difference: FieldDifference
) -> tuple[str, list[Operation] | dict[str, Any]]:
    """The `--type` for kubectl, and the patch that fixes one difference, independent of other patches.

    A JSON patch cannot add to a mapping that may be missing: it would replace entries that another
    patch or user has added since. A merge patch can (RFC 7386).
    """
    path, value = _change(expected, difference)
    outside_lists = all(isinstance(step, str) for step in path)
    if value is not UNSET and outside_lists and _parents(found, path, value)[0] != path:
        for step in reversed(path):
            value = {step: value}
        return "merge", value
    return "json", operations(expected, found, [difference])


def _change(expected: dict[str, Any], difference: FieldDifference) -> tuple[Path, Any]:
    """The path to write, and the value; UNSET to remove it."""
    if difference.text is not None:
        return difference.text, at(expected, difference.text)
    if difference.reordered:
        return difference.path, at(expected, difference.source)
    if _is_container(difference.path[:-1]) and difference.path[-1] == "name":
        # A snapshot does not have all fields of a container with another name, so none can be removed alone.
        return difference.path[:-1], at(expected, difference.source[:-1])
    inside = difference.path and isinstance(difference.path[-1], int)
    if inside and (difference.expected is UNSET or difference.found is UNSET):
        return difference.path[:-1], at(expected, difference.source[:-1])
    # The planned value as it was rendered; else the default.
    planned = at(expected, difference.source)
    return difference.path, difference.expected if planned is UNSET else planned


def _written(found: dict[str, Any], path: Path, value: Any) -> Operation:
    if value is UNSET:
        return {"op": "remove", "path": pointer(path)}
    op = "add" if at(found, path) is UNSET else "replace"
    return {"op": op, "path": pointer(path), "value": value}


def _test(found: dict[str, Any], path: Path) -> Operation:
    """A test that the value, or the list entry around it, is unchanged."""
    there = at(found, path)
    for index, (holder, step) in enumerate(pairwise(path), 1):
        if isinstance(holder, int) and step == "env":  # a snapshot has only the names in it
            path, there = path[:index], UNSET
            break
    was_missing = there is UNSET
    if was_missing:
        last = max(index for index, step in enumerate(path) if isinstance(step, int))
        path = path[: last + 1]
        there = at(found, path)
    is_entry = isinstance(path[-1], int) and (was_missing or _is_container(path))
    if is_entry and isinstance(there, dict) and isinstance(there.get("name"), str):
        path, there = (*path, "name"), there["name"]
    return {"op": "test", "path": pointer(path), "value": there}


def _is_container(path: Path) -> bool:
    return len(path) > 1 and path[-2] in _CONTAINERS and isinstance(path[-1], int)


def _parents(found: dict[str, Any], path: Path, value: Any) -> tuple[Path, Any]:
    """The highest missing place, and the value inside the mappings that are missing."""
    for length in range(1, len(path)):
        if at(found, path[:length]) in (UNSET, None):
            for step in reversed(path[length:]):
                value = {step: value}
            return path[:length], value
    return path, value


def at(data: Any, path: Path) -> Any:
    """The value at a path; UNSET if it does not exist."""
    for step in path:
        try:
            data = data[step]
        except (LookupError, TypeError):
            return UNSET
    return data


def _merged(one: Any, other: Any) -> Any:
    """Two mappings of missing fields, merged."""
    if not isinstance(one, dict) or not isinstance(other, dict):
        return other
    return {
        **one,
        **{key: _merged(one[key], value) if key in one else value for key, value in other.items()},
    }
