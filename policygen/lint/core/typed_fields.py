"""Values in controllers' files with a wrong type, as Go decodes them."""

from collections.abc import Container, Iterator, Mapping
from enum import Enum
from typing import Any, TypeAlias

from policygen.core import durations
from policygen.core.finding import Fault, Path
from policygen.core.quoting import shown
from policygen.kubernetes.untyped import mapping


class Type(Enum):
    """The type of a field that is not a mapping."""

    BOOLEAN = "a boolean"
    DURATION = "a duration"
    INTEGER = "an integer"
    INT32 = "an integer of 32 bits"
    INT32S = "a list of integers"
    NUMBER = "a number"
    TEXT = "a string"
    TEXTS = "a list of strings"


Fields: TypeAlias = "Mapping[str, Fields | Type | None]"
"""The fields of a mapping and their types; None: not checked; `*`: any other field.

For a list, this is about its entries.
"""

ANY = "*"
_NUMBERS = (Type.INTEGER, Type.INT32, Type.NUMBER)
_TRUTH = ("true", "false")


def faults(
    data: Any, fields: Fields, path: Path = (), lists: Container[str] | None = None
) -> Iterator[Fault]:
    """Every value of known fields that cannot be decoded.

    `lists`: the names of the fields whose value is a list of mappings; None: this is not checked.
    """
    for key, value in mapping(data).items():
        inner = fields.get(key, fields.get(ANY))
        if inner is None or value is None:
            continue
        if isinstance(inner, Type):
            if fault := _fault(value, inner):
                yield (*path, key), fault
        else:
            several = isinstance(value, list)
            if lists is not None and several != (key in lists):
                kind = 'a list; write each entry after "-"' if key in lists else "a mapping"
                yield (*path, key), f"{shown(value)} is not {kind}"
                continue
            for i, item in enumerate(value) if several else ((None, value),):
                place = (*path, key) if i is None else (*path, key, i)
                if isinstance(item, dict):
                    yield from faults(item, inner, place, lists)
                elif item is not None:
                    yield (
                        place,
                        f'{shown(item)} is not a mapping; write the fields as "name: value"',
                    )


def right(data: Mapping[str, Any], key: str, type_: Type) -> Any:
    """The value of a field; None if it is missing or has another type."""
    value = data.get(key)
    return None if value is None or _fault(value, type_) else value


def _fault(value: Any, type_: Type) -> str | None:
    if type_ is Type.DURATION:
        if isinstance(value, str) and durations.seconds(value) is not None:
            return None
        return f"{shown(value)} is not a duration; write a duration such as 15s"
    if _is(value, type_):
        return None
    if isinstance(value, str) and type_ is Type.BOOLEAN and value.lower() in _TRUTH:
        return f"{shown(value)} is a string, not a boolean; write {value.lower()} without quotes"
    if isinstance(value, str) and type_ in _NUMBERS and value.isdecimal():
        return f"{shown(value)} is a string, not {type_.value}; write {value} without quotes"
    if type_ is Type.TEXT and not isinstance(value, dict | list):
        return f"{shown(value)} is not a string; put it in quotes"
    return f"{shown(value)} is not {type_.value}; write {type_.value}"


def _is(value: Any, type_: Type) -> bool:
    match type_:
        case Type.BOOLEAN:
            return isinstance(value, bool)
        case Type.TEXT:
            return isinstance(value, str)
        case Type.TEXTS:
            return isinstance(value, list) and all(isinstance(it, str | None) for it in value)
        case Type.INT32S:
            return isinstance(value, list) and all(
                it is None or _is(it, Type.INT32) for it in value
            )
        case Type.NUMBER:
            return isinstance(value, int | float) and not isinstance(value, bool)
        case Type.INT32:
            return _is(value, Type.INTEGER) and -(1 << 31) <= value < 1 << 31
        case _:
            integral = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
            return integral and not isinstance(value, bool) and -(1 << 63) <= value < 1 << 63
