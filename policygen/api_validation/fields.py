"""Reads fields of an object that may have a wrong type, which the check of the schema reports."""

from collections.abc import Iterator
from typing import Any

from policygen.core.finding import at_path


def mapping(data: Any, *path: str | int) -> dict[str, Any]:
    """The mapping at a path; empty if it is missing or has a wrong type."""
    found = at_path(data, path)
    return found if isinstance(found, dict) else {}


def mappings(data: Any, *path: str | int) -> list[dict[str, Any]]:
    """The mappings of a list, without entries of a wrong type."""
    return [it for _, it in numbered(data, *path)]


def numbered(data: Any, *path: str | int) -> Iterator[tuple[int, dict[str, Any]]]:
    """The mappings of a list with their indexes, without entries of a wrong type."""
    found = at_path(data, path)
    for i, item in enumerate(found if isinstance(found, list) else ()):
        if isinstance(item, dict):
            yield i, item


def strings(data: Any, *path: str | int) -> list[str]:
    """The strings of a list; "" for null, as the server reads it, and for entries of a wrong type."""
    found = at_path(data, path)
    return [it if isinstance(it, str) else "" for it in (found if isinstance(found, list) else ())]
