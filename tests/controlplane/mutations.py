"""Ways to spoil a good object: one change each, at every place that it has."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import partial
from typing import Any, NamedTuple

from policygen.finding import Path

from .client import Object

KEPT = frozenset({("apiVersion",), ("kind",), ("metadata", "name"), ("metadata",)})
"""What decides where an object is sent."""

STRANGER = "strangeField"

_INSTEAD: tuple[Any, ...] = (
    True, 1.5, 3.0, {}, [], "", "a", "1", "A_b c", "a.b/c", "x" * 300, "1 Gi", "2k", "10Ei", "1e3", ".5", "+",
    "2026-01-31T12:00:00Z", 0, -1, 1000000, (1 << 31), (1 << 31) - 1, 1 << 63, {"a": "b"}, [None], ["a", "a"],
)  # fmt: skip


class Change(NamedTuple):
    """One way to spoil an object; it is cheap to list them and dear to make them all."""

    label: str
    path: Path
    make: Callable[[Any], None]
    """Changes what holds the last step of the path."""

    def of(self, thing: Object) -> Object:
        """A changed copy."""
        copy = deepcopy(thing)
        self.make(_at(copy, self.path[:-1]))
        return copy

    def __str__(self) -> str:
        return f"{self.label} at {'.'.join(map(str, self.path))}"


def changes(thing: Object) -> list[Change]:
    """Every single change of this object that we know."""
    return list(_changes(thing))


def _changes(thing: Object) -> Iterator[Change]:
    for path, value in _places(thing, ()):
        if isinstance(value, dict):
            yield _put("stranger", (*path, STRANGER), 1)
        if path in KEPT or not path:
            continue
        last = path[-1]
        yield Change("without", path, partial(_remove, last))
        yield _put("null", path, None)
        for other in _INSTEAD:
            if type(other) is not type(value) or other != value:
                yield _put(f"{other!r:.20}", path, other)
        if isinstance(value, list) and value:
            yield _put("twice", path, [*value, value[0]])
            yield _put("many", path, value * 300)
        if isinstance(last, str):
            yield Change("renamed", path, partial(_rename, last))


def _places(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    yield path, value
    if isinstance(value, dict):
        for key in value:
            yield from _places(value[key], (*path, key))
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            yield from _places(entry, (*path, index))


def _at(thing: Any, path: Path) -> Any:
    for step in path:
        thing = thing[step]
    return thing


def _put(label: str, path: Path, value: Any) -> Change:
    return Change(label, path, partial(_set, path[-1], value))


def _set(key: str | int, value: Any, holder: Any) -> None:
    holder[key] = deepcopy(value)


def _remove(key: str | int, holder: Any) -> None:
    del holder[key]


def _rename(key: str, holder: Any) -> None:
    holder[f"{key}s"] = holder.pop(key)
