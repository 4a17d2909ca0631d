"""Data to a Struct, of whose parts those that are one object are made once."""

from collections.abc import Callable
from functools import cache
from typing import Any, Generic, TypeVar

import msgspec
from msgspec.structs import fields

T = TypeVar("T", bound=msgspec.Struct)


class InParts(Generic[T]):
    """Converts to one type, and remembers parts by their identity; see `spec.shared`."""

    def __init__(self, type_: type[T], dec_hook: Callable[[type[Any], Any], Any]) -> None:
        self._type = type_
        self._dec_hook = dec_hook
        self._parts: dict[str, tuple[str, Any, dict[int, tuple[Any, Any]]]] = {
            written: (name, part, {}) for written, name, part in _fields(type_)
        }

    def convert(self, data: Any) -> T:
        """What `msgspec.convert` makes of it, or raises."""
        if isinstance(data, dict):
            try:
                return self._type(**self._made(data))
            except (msgspec.ValidationError, TypeError):
                pass  # the whole says what is wrong, and where
        return msgspec.convert(data, self._type, dec_hook=self._dec_hook)

    def _made(self, data: dict[str, Any]) -> dict[str, Any]:
        made = {}
        for key, value in data.items():
            part = self._parts.get(key)
            if part is None:
                continue
            name, type_, known = part
            found = known.get(id(value))
            if found is None:
                # With the value: what is gone may leave its identity to another.
                found = value, msgspec.convert(value, type_, dec_hook=self._dec_hook)
                known[id(value)] = found
            made[name] = found[1]
        return made


@cache
def _fields(type_: type[msgspec.Struct]) -> tuple[tuple[str, str, Any], ...]:
    """Each field as it is written, as it is named, and its type."""
    return tuple((each.encode_name, each.name, each.type) for each in fields(type_))
