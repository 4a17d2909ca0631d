"""Reads fields of an object that may have a wrong type, which the check of the schema reports."""

from collections.abc import Iterator, Mapping
from typing import Any


def mapping(holder: Mapping[str, Any], field: str) -> dict[str, Any]:
    """A mapping; empty if the field is missing or has a wrong type."""
    found = holder.get(field)
    return found if isinstance(found, dict) else {}


def mappings(holder: Mapping[str, Any], field: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The mappings of a list with their indexes, without entries of a wrong type."""
    found = holder.get(field)
    for i, item in enumerate(found if isinstance(found, list) else ()):
        if isinstance(item, dict):
            yield i, item


def strings(holder: Mapping[str, Any], field: str) -> list[str]:
    """The strings of a list; "" for null, as the server reads it, and for entries of a wrong type."""
    found = holder.get(field)
    return [it if isinstance(it, str) else "" for it in (found if isinstance(found, list) else ())]
