"""What a patch adds to an object: as edits of its text, and as a JSON patch."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from policygen.core.finding import At, Edit, NewMapping, NewValue, Path, Verb, pointer


class Addition(Struct, frozen=True, eq=False):
    """A field or a list entry that an object does not have, or an empty value that gets a content."""

    path: Path
    """The highest part of the object that is missing or empty."""
    value: Any
    """The complete value, with everything below the path."""
    fills: bool = False
    """Whether the field exists: with null, an empty mapping or an empty list."""


def additions(before: Any, after: Any, path: Path = ()) -> Iterator[Addition]:
    """What `after` has and `before` does not, in the order of `after`.

    `after` must have everything of `before`, and new list entries after the others.
    """
    if before in (None, {}, []) and after not in (None, {}, []):
        yield Addition(path, after, fills=True)
    elif isinstance(before, dict):
        for key, value in after.items():
            if key in before:
                yield from additions(before[key], value, (*path, key))
            else:
                yield Addition((*path, key), value)
    elif isinstance(before, list):
        for number, value in enumerate(after):
            if number < len(before):
                yield from additions(before[number], value, (*path, number))
            else:
                yield Addition((*path, number), value)


def entries(added: Iterable[Addition]) -> Iterator[tuple[str, Any]]:
    """The added fields for people: the key and value of each, without those above it; a list entry is one value."""
    for it in added:
        keys = [step for step in it.path if isinstance(step, str)]
        key = ".".join(keys[-2:]) if _is_amount(keys) else keys[-1] if keys else ""
        if it.path and it.path[-1] not in keys[-1:]:  # an entry of a list
            yield key, it.value
        else:
            yield from _entries(key, it.value)


def _entries(key: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping) and value and key != "preStop":  # a program to run, not a field
        for name, it in value.items():
            yield from _entries(f"{key}.{name}" if _is_amount((key, name)) else name, it)
    else:
        yield key, value


def _is_amount(keys: Sequence[str]) -> bool:
    """Whether the last key is cpu or memory, of which a pod has a request and a limit."""
    return len(keys) > 1 and keys[-2] in ("requests", "limits") and keys[-1] in ("cpu", "memory")


def edits(added: Iterable[Addition], root: At) -> tuple[Edit, ...]:
    """The edits of a document that add these parts to the object at a place."""
    return tuple(
        Edit(Verb.REWRITE if it.fills else Verb.ADD, root.to(*it.path), _new(it.value))
        for it in added
    )


def operations(added: Iterable[Addition]) -> list[dict[str, Any]]:
    """The JSON patch (RFC 6902) that adds these parts to the object.

    `replace` is for empty values: `add` would insert before an empty entry of a list. To add after the last
    entry, the index is the length of the list.
    """
    return [
        {"op": "replace" if it.fills else "add", "path": pointer(it.path), "value": it.value}
        for it in added
    ]


def _new(value: Any) -> NewValue:
    """Data as an edit writes it."""
    if isinstance(value, Mapping):
        return NewMapping(tuple((key, _new(it)) for key, it in value.items()))
    if isinstance(value, list):
        return tuple(map(_new, value))
    known: NewValue = value
    return known
