"""Fields whose values could not be read, and who looks at them.

One wrong type must not hide what else is wrong with an object. So the refused field is left out,
the rest is read, and whoever looks at the field is noted: what a rule says without having looked
holds whatever the field was meant to say.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import msgspec

from policygen.core.finding import At, Path

T = TypeVar("T")
Roots = frozenset[At]
"""The roots of objects whose unknown fields were looked at."""


class Doubts:
    """The objects whose unknown fields were looked at since it was last asked."""

    def __init__(self, settled: Roots = frozenset()) -> None:
        self._settled = settled
        """Objects that nobody is to hear of any more."""
        self._read: set[At] = set()

    def note(self, at: At) -> None:
        """An unknown field of the object with this root was looked at."""
        if at not in self._settled:
            self._read.add(at)

    def taken(self) -> Roots:
        """What was noted; nothing is after it."""
        found, self._read = frozenset(self._read), set()
        return found

    def during(self, make: Callable[[], T]) -> tuple[T, Roots]:
        """What is made, and what that looked at, for those who use it again."""
        before = self.taken()
        made = make()
        read = self.taken()
        self._read = {*before, *read}
        return made, read

    def again(self, read: Roots) -> None:
        """Note what something was made of."""
        self._read |= read


def unknown_field(path: Path) -> Path:
    """The field to leave out where a value at this path could not be read; () for none.

    An entry of a list is not left out: the places of those behind it would shift.
    """
    while path and isinstance(path[-1], int):
        path = path[:-1]
    return path


def left_out(data: Any, path: Path) -> Any:
    """The data without the field at this path; what is not on the way to it is shared."""
    step, rest = path[0], path[1:]
    if isinstance(data, list):
        return [left_out(it, rest) if i == step else it for i, it in enumerate(data)]
    if rest:
        return {**data, step: left_out(data[step], rest)}
    return {key: value for key, value in data.items() if key != step}


def outermost(fields: Sequence[Path]) -> list[Path]:
    """The fields that are not inside another of them."""
    return [it for it in fields if not any(it[:n] in fields for n in range(1, len(it)))]


def watched(struct: Any, path: Path, note: Callable[[], None]) -> Any:
    """The struct with the field at this path, as it was written, calling `note` when looked at."""
    name = _attribute(type(struct), str(path[0]))
    if len(path) == 1:
        return _watching(struct, name, note)
    value = getattr(struct, name)
    if isinstance(path[1], int):
        index, rest = path[1], path[2:]
        new = (*value[:index], watched(value[index], rest, note), *value[index + 1 :])
    else:
        new = watched(value, path[1:], note)
    msgspec.structs.force_setattr(struct, name, new)  # nobody has seen it
    return struct


def watched_if_there(struct: Any, path: Path, note: Callable[[], None]) -> Any:
    """The same, or the struct as it was where no rule reads a field at this path."""
    try:
        return watched(struct, path, note)
    except (AttributeError, LookupError, TypeError):
        return struct


def _attribute(type_: Any, written: str) -> str:
    names: dict[str, str] = dict(
        zip(type_.__struct_encode_fields__, type_.__struct_fields__, strict=True)
    )
    return names[written]


def _watching(struct: Any, field: str, note: Callable[[], None]) -> Any:
    """A copy of the struct, of a class of its own."""
    base: Any = type(struct)

    class Watched(base, frozen=True):  # type: ignore[misc,call-arg] # the base is known here only
        """Notes when its unknown field is looked at; compared or hashed, all its fields are."""

        def __getattribute__(self, name: str) -> Any:
            if name == field:
                note()
            return super().__getattribute__(name)

        def __eq__(self, other: object) -> bool:
            note()
            return base.__eq__(self, other) is True

        def __hash__(self) -> int:
            note()
            found: int = base.__hash__(self)
            return found

    return Watched(*(getattr(struct, name) for name in base.__struct_fields__))
