"""Decodes JSON and data into typed objects, with types that are built one at a time.

msgspec builds the description of a Struct at its first use, and stores it on the class before it is
complete. Another thread that uses the class at this moment reads the incomplete description, and the
process ends with a segmentation fault (measured with msgspec 0.22). `tests/core/test_decoding.py` shows
that two threads build a type at the same time. So each type is built here, under one lock, before its first use.
"""

from collections.abc import Callable
from functools import cache
from threading import Lock
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")
DecodeHook = Callable[[type[Any], Any], Any]

_BUILDING = Lock()


def decoder(type_: type[T], hook: DecodeHook | None = None) -> msgspec.json.Decoder[T]:
    """The decoder of JSON of this type; threads can share it. `hook` is msgspec's `dec_hook`."""
    return _built(type_, hook)[1]


def decode(text: bytes | str, type_: type[T]) -> T:
    """JSON as this type. Raises msgspec.DecodeError, UnicodeDecodeError or RecursionError."""
    return decoder(type_).decode(text)


def converted(data: Any, type_: type[T], hook: DecodeHook | None = None) -> T:
    """Data as this type. Raises msgspec.ValidationError or RecursionError."""
    same, _ = _built(type_, hook)
    return msgspec.convert(data, same, dec_hook=hook)  # noqa: TID251 - its type is built


def _built(type_: type[T], hook: DecodeHook | None) -> tuple[type[T], msgspec.json.Decoder[T]]:
    """The type that was built, which may be another object than an equal `Page[dict]`, and its decoder."""
    with _BUILDING:
        return _decoder(type_, hook)  # type: ignore[arg-type] # a type is hashable


@cache
def _decoder(type_: Any, hook: DecodeHook | None) -> tuple[Any, msgspec.json.Decoder[Any]]:
    return type_, msgspec.json.Decoder(type_, dec_hook=hook)
