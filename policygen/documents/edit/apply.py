"""Applies edits to data; the edited text must parse to the same data."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from policygen.core.finding import Edit, NewMapping, NewValue, Path, Verb


class EditError(ValueError):
    """Why an edit cannot be made, as a message for the user."""

    def __init__(self, message: str, path: Path = ()) -> None:
        """`path` is that of the edit, if a single one is at fault."""
        super().__init__(message)
        self.path = path


def applied(data: Any, edits: Iterable[Edit], raw: Mapping[Path, str]) -> Any:
    """The data after the edits.

    `raw` has the text of the scalar at the path of each QUOTE. Raises EditError.
    """
    by_path: dict[Path, list[Edit]] = {}
    for edit in edits:
        found = by_path.setdefault(edit.at.path, [])
        if edit not in found:
            found.append(edit)
    made = _value(data, (), by_path, raw)
    for edit in (edit for found in by_path.values() for edit in found):
        if edit.verb is Verb.ADD:
            _add(made, edit)
    return made


def same(expected: Any, found: Any) -> bool:
    """Whether data is as expected: types matter, the order of keys does not."""
    if expected.__class__ is not found.__class__:
        return False
    if isinstance(expected, dict):
        return expected.keys() == found.keys() and all(
            same(value, found[key]) for key, value in expected.items()
        )
    if isinstance(expected, list):
        return len(expected) == len(found) and all(map(same, expected, found))
    return bool(expected == found)


def _value(
    data: Any, path: Path, by_path: Mapping[Path, Sequence[Edit]], raw: Mapping[Path, str]
) -> Any:
    if isinstance(data, dict):
        data = _mapping(data, path, by_path, raw)
    elif isinstance(data, list):
        data = [
            _value(entry, (*path, number), by_path, raw)
            for number, entry in enumerate(data)
            if not _has(Verb.REMOVE, by_path.get((*path, number), ()))
        ]
    for edit in by_path.get(path, ()):
        if edit.verb is Verb.REWRITE:
            data = plain(edit.to)
        elif edit.verb is Verb.QUOTE:
            data = raw[path]
        elif edit.verb is Verb.NEST:
            before, key = nesting(edit.to)
            data = {**{name: plain(it) for name, it in before}, key: data}
    return data


def _mapping(
    data: dict[str, Any],
    path: Path,
    by_path: Mapping[Path, Sequence[Edit]],
    raw: Mapping[Path, str],
) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, value in data.items():
        edits = by_path.get((*path, key), ())
        if _has(Verb.REMOVE, edits):
            continue
        name = next((f"{edit.to}" for edit in edits if edit.verb is Verb.RENAME), key)
        if name in made or (name != key and name in data and not _leaves((*path, name), by_path)):
            raise EditError(f'key "{name}" already exists')
        made[name] = _value(value, (*path, key), by_path, raw)
    return made


def _add(data: Any, edit: Edit) -> None:
    """Put the value of an ADD into the data after the other edits."""
    for number, step in enumerate(edit.at.path, 1):
        if isinstance(data, list) and isinstance(step, int) and step < len(data):
            data = data[step]
            continue
        if isinstance(data, list) and step == len(data) and number == len(edit.at.path):
            data.append(plain(edit.to))
            continue
        if not isinstance(data, dict) or not isinstance(step, str):
            raise EditError("the field cannot be added, because its parent is not a mapping")
        if number == len(edit.at.path):
            if step in data:
                raise EditError(f'key "{step}" already exists')
            data[step] = plain(edit.to)
        else:
            data = data.setdefault(step, {})


def _leaves(path: Path, by_path: Mapping[Path, Sequence[Edit]]) -> bool:
    """Whether the edits give another name to a key, or remove it."""
    edits = by_path.get(path, ())
    return _has(Verb.REMOVE, edits) or _has(Verb.RENAME, edits)


def nesting(to: NewValue) -> tuple[Sequence[tuple[str, NewValue]], str]:
    """The entries that a NEST writes above the old value, and the key of the old value."""
    if isinstance(to, NewMapping):
        return to.entries[:-1], to.entries[-1][0]
    return (), f"{to}"


def plain(value: NewValue) -> Any:
    """The value that the new text parses to."""
    if isinstance(value, NewMapping):
        return {key: plain(it) for key, it in value.entries}
    return [*map(plain, value)] if isinstance(value, tuple) else value


def _has(verb: Verb, edits: Sequence[Edit]) -> bool:
    return any(edit.verb is verb for edit in edits)
