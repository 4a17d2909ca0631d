"""Records which objects a rule reads an invalid field of.

One field of a wrong type must not hide other faults of its object. So the invalid field is
omitted, and the other fields are read. Each access to the invalid field is recorded: the hits of
a rule that does not read the field are valid, whatever its value should be.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, TypeVar

import msgspec

from policygen.core.finding import At, Path

T = TypeVar("T")
Roots = frozenset[At]
"""The roots of objects whose invalid fields were read."""


_NONE: Roots = frozenset()


class AccessLog:
    """The objects whose invalid fields were read since the last call of `take`."""

    def __init__(self, settled: Roots = frozenset()) -> None:
        self._settled = settled
        """Objects that are not recorded, because a rule has reported them already."""
        self._read: set[At] = set()

    def note(self, at: At) -> None:
        """Record that an invalid field of the object with this root was read."""
        if at not in self._settled:
            self._read.add(at)

    def take(self) -> Roots:
        """Return the recorded objects, and clear the record."""
        if not self._read:
            return _NONE  # the usual case
        found, self._read = frozenset(self._read), set()
        return found

    def recorded(self, make: Callable[[], T]) -> tuple[T, Roots]:
        """Call a function. Returns its result and the objects recorded during the call."""
        before = self.take()
        made = make()
        read = self.take()
        self._read = {*before, *read}
        return made, read

    def repeat(self, read: Roots) -> None:
        """Record objects that an earlier call recorded, when its result is used again."""
        self._read |= read


def invalid_field(path: Path) -> Path:
    """The field to omit if the value at this path is invalid; () if no field can be omitted.

    An entry of a list is never omitted, because that would change the indexes of later entries.
    """
    while path and isinstance(path[-1], int):
        path = path[:-1]
    return path


def without(data: Any, path: Path) -> Any:
    """A copy of the data without the field at this path. Parts that are not on the path are shared."""
    step, rest = path[0], path[1:]
    if isinstance(data, list):
        return [without(it, rest) if i == step else it for i, it in enumerate(data)]
    if rest:
        return {**data, step: without(data[step], rest)}
    return {key: value for key, value in data.items() if key != step}


def outermost(fields: Sequence[Path]) -> list[Path]:
    """The fields that are not inside another of them."""
    return [it for it in fields if not any(it[:n] in fields for n in range(1, len(it)))]


def watched(struct: Any, path: Path, note: Callable[[], None]) -> Any:
    """The struct, which calls `note` when the field at this path is read. The path is as in YAML."""
    name = _attribute(type(struct), str(path[0]))
    if len(path) == 1:
        return _watching(struct, name, note)
    value = getattr(struct, name)
    if isinstance(path[1], int):
        index, rest = path[1], path[2:]
        new = (*value[:index], watched(value[index], rest, note), *value[index + 1 :])
    else:
        new = watched(value, path[1:], note)
    msgspec.structs.force_setattr(struct, name, new)  # no other code has it yet
    return struct


def _attribute(type_: Any, written: str) -> str:
    names: dict[str, str] = dict(
        zip(type_.__struct_encode_fields__, type_.__struct_fields__, strict=True)
    )
    return names[written]


def _watching(struct: Any, field: str, note: Callable[[], None]) -> Any:
    """A copy of the struct, as an instance of a new subclass."""
    base: Any = type(struct)

    class Watched(base, frozen=True):  # type: ignore[misc,call-arg] # the base is a variable
        """Calls `note` when its invalid field is read, and when it is compared or hashed."""

        def __getattribute__(self, name: str) -> Any:
            if name == field:
                note()
            computed = getattr(base, name, None)
            if isinstance(computed, cached_property):  # each use reads its fields again
                return computed.func(self)
            return super().__getattribute__(name)

        def __eq__(self, other: object) -> bool:
            note()
            return base.__eq__(self, other) is True

        def __hash__(self) -> int:
            note()
            found: int = base.__hash__(self)
            return found

    return Watched(*(getattr(struct, name) for name in base.__struct_fields__))
