"""Reads parts of unchecked data. A value of a wrong type is read as missing."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from policygen.core import quantity
from policygen.core.finding import at_path

_TEXT = frozenset({str})


def mapping(data: Any, *path: str) -> dict[str, Any]:
    """The mapping at a path, not a copy, so that it can be changed; a new one if it is missing."""
    for step in path:
        if not isinstance(data, dict):
            return {}
        data = data.get(step)
        if data is None:
            return {}
    return data if isinstance(data, dict) else {}


def mappings(data: Any, *path: str) -> list[dict[str, Any]]:
    """The entries of a list that are mappings."""
    return [it for it in entries(data, *path) if isinstance(it, dict)]


def numbered(data: Any, *path: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The entries of a list that are mappings, each with its index."""
    for i, entry in enumerate(entries(data, *path)):
        if isinstance(entry, dict):
            yield i, entry


def entries(data: Any, *path: str) -> list[Any]:
    """The list at a path, not a copy; a new one if it is missing."""
    for step in path:
        if not isinstance(data, dict):
            return []
        data = data.get(step)
    return data if isinstance(data, list) else []


def texts(data: Any, *path: str) -> tuple[str, ...]:
    """The entries of a list that are strings."""
    return tuple(it for it in entries(data, *path) if isinstance(it, str))


def keyed_texts(data: Any, *path: str) -> Mapping[str, str]:
    """The strings in a mapping, by key, such as labels. Do not change it: it may not be a copy."""
    found = mapping(data, *path)
    if not found or _TEXT.issuperset(map(type, found.values())):
        return found  # the usual case; a copy would cost time
    return {key: it for key, it in found.items() if isinstance(it, str)}


def text(data: Any, *path: str) -> str:
    """The string at a path; empty if it is missing."""
    found = at_path(data, path)
    return found if isinstance(found, str) else ""


def integer(value: Any) -> int | None:
    """The value if it is an integer, else None; true and false are not integers."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def read_amount(value: object) -> Fraction | None:
    """The amount of a quantity; None if it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return quantity.read(value).value
    except ValueError:
        return None
