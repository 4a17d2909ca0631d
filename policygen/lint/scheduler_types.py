"""Values of a KubeSchedulerConfiguration that are of another type than their field.

Source: the Go types of k8s.io/kube-scheduler/config/v1, into which the file is decoded.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from policygen.finding import Path
from policygen.lint import durations
from policygen.lint.scheduler_words import Fields, Type
from policygen.spec.echo import shown

Fault = tuple[Path, str]
"""A place, and what is wrong there."""

_TRUTH = {"true": "true", "false": "false"}


def faults(data: Any, fields: Fields, path: Path = ()) -> Iterator[Fault]:
    """Every value of known fields that cannot be decoded."""
    for key, value in data.items() if isinstance(data, dict) else ():
        inner = fields.get(key)
        if inner is None or value is None:
            continue
        if isinstance(inner, Type):
            if fault := _fault(value, inner):
                yield (*path, key), f"{key} is {fault}"
        elif isinstance(value, list):
            for i, item in enumerate(value):
                yield from faults(item, inner, (*path, key, i))
        elif isinstance(value, dict):
            yield from faults(value, inner, (*path, key))
        else:
            yield (*path, key), f"{key} is {shown(value)}, which is no mapping; write its fields"


def right(data: Mapping[str, Any], key: str, type_: Type) -> Any:
    """The value of a field; None where it has none, or one of another type."""
    value = data.get(key)
    return None if value is None or _fault(value, type_) else value


def _fault(value: Any, type_: Type) -> str | None:
    if type_ is Type.DURATION:
        if isinstance(value, str) and durations.seconds(value) is not None:
            return None
        return f"{shown(value)}, which is no duration; write one such as 15s"
    if _is(value, type_):
        return None
    if isinstance(value, str) and type_ is Type.BOOLEAN and value.lower() in _TRUTH:
        return f"{shown(value)}, which is a text; write {value.lower()} without quotes"
    if isinstance(value, str) and type_ in (Type.INTEGER, Type.NUMBER) and value.isdecimal():
        return f"{shown(value)}, which is a text; write {value} without quotes"
    if type_ is Type.TEXT and not isinstance(value, dict | list):
        return f"{shown(value)}, which is no text; put it in quotes"
    return f"{shown(value)}, which is not {type_.value}; write one"


def _is(value: Any, type_: Type) -> bool:
    match type_:
        case Type.BOOLEAN:
            return isinstance(value, bool)
        case Type.TEXT:
            return isinstance(value, str)
        case Type.NUMBER:
            return isinstance(value, int | float) and not isinstance(value, bool)
        case _:
            whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
            return whole and not isinstance(value, bool)
