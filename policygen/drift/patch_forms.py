"""What makes an object as it should be again, in the forms that kubectl takes.

A patch of an object is a JSON patch (RFC 6902). Inside lists, where a place is a number, it first tests what
stands there, so that on an object that has changed meanwhile it is refused and does no harm.
"""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from msgspec import UNSET

from policygen.core.finding import Path
from policygen.drift.compare import FieldDifference

Operation = dict[str, Any]


def operations(
    wanted: dict[str, Any], found: dict[str, Any], differences: Iterable[FieldDifference]
) -> list[Operation]:
    """The patch that takes these differences out of the found object.

    A list whose entries come, go or change places is written as a whole, as is a text that holds
    a file.
    """
    changes = dict(_change(wanted, it) for it in differences)
    outer = [
        path for path in changes if not any(path[:length] in changes for length in range(len(path)))
    ]
    written: dict[Path, Any] = {}
    for path in outer:
        place, value = path, changes[path]
        if value is not UNSET:
            place, value = _parents(found, path, value)
        elif at(found, path) is UNSET:
            continue  # what code fills in goes with what it is filled in for
        written[place] = _merged(written[place], value) if place in written else value
    # First that all still stands where it stood, and then the changes.
    tests: list[Operation] = []
    for path in outer:
        if any(isinstance(step, int) for step in path) and (it := _test(found, path)) not in tests:
            tests.append(it)
    return [*tests, *(_written(found, path, value) for path, value in written.items())]


def alone(
    wanted: dict[str, Any], found: dict[str, Any], it: FieldDifference
) -> tuple[str, list[Operation] | dict[str, Any]]:
    """The `--type` for kubectl, and the patch that mends one difference, whatever was mended before.

    A JSON patch cannot add to a mapping that may be missing: it would replace what another patch, or
    somebody, has put there since. A merge patch can (RFC 7386).
    """
    path, value = _change(wanted, it)
    outside_lists = all(isinstance(step, str) for step in path)
    if value is not UNSET and outside_lists and _parents(found, path, value)[0] != path:
        for step in reversed(path):
            value = {step: value}
        return "merge", value
    return "json", operations(wanted, found, [it])


def _change(wanted: dict[str, Any], it: FieldDifference) -> tuple[Path, Any]:
    """Where something is written, and what; UNSET to remove it."""
    if it.text is not None:
        return it.text, at(wanted, it.text)
    if it.reordered:
        return it.path, at(wanted, it.source)
    inside = it.path and isinstance(it.path[-1], int)
    if inside and (it.wanted is UNSET or it.found is UNSET):
        return it.path[:-1], at(wanted, it.source[:-1])
    # What was planned as it was rendered; a default that nobody wrote as it is.
    planned = at(wanted, it.source)
    return it.path, it.wanted if planned is UNSET else planned


def _written(found: dict[str, Any], path: Path, value: Any) -> Operation:
    if value is UNSET:
        return {"op": "remove", "path": pointer(path)}
    op = "add" if at(found, path) is UNSET else "replace"
    return {"op": op, "path": pointer(path), "value": value}


def _test(found: dict[str, Any], path: Path) -> Operation:
    """That what is meant still stands where it stood: the value, or the list entry around it."""
    there = at(found, path)
    for index, (holder, step) in enumerate(pairwise(path), 1):
        if isinstance(holder, int) and step == "env":  # of which a look has names only
            path, there = path[:index], UNSET
            break
    if there is UNSET:
        last = max(index for index, step in enumerate(path) if isinstance(step, int))
        path = path[: last + 1]
        there = at(found, path)
        if isinstance(there, dict) and isinstance(there.get("name"), str):
            path, there = (*path, "name"), there["name"]
    return {"op": "test", "path": pointer(path), "value": there}


def _parents(found: dict[str, Any], path: Path, value: Any) -> tuple[Path, Any]:
    """The highest place that is missing, and the value in as many mappings as that takes."""
    for length in range(1, len(path)):
        if at(found, path[:length]) in (UNSET, None):
            for step in reversed(path[length:]):
                value = {step: value}
            return path[:length], value
    return path, value


def at(data: Any, path: Path) -> Any:
    """What stands at a path; UNSET for nothing."""
    for step in path:
        try:
            data = data[step]
        except (LookupError, TypeError):
            return UNSET
    return data


def _merged(one: Any, other: Any) -> Any:
    """What two mappings of missing fields say together."""
    if not isinstance(one, dict) or not isinstance(other, dict):
        return other
    return {
        **one,
        **{key: _merged(one[key], value) if key in one else value for key, value in other.items()},
    }


def pointer(path: Path) -> str:
    """A path as RFC 6901 writes it."""
    steps = (str(step).replace("~", "~0").replace("/", "~1") for step in path)
    return "".join(f"/{step}" for step in steps)
