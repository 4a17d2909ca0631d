"""Parts of data that nobody has checked: what is not of the form asked for is as if it were not there."""

from collections.abc import Mapping
from typing import Any

from policygen.finding import at_path

_TEXT = frozenset({str})


def mapping(data: Any, *way: str) -> dict[str, Any]:
    """The mapping at the end of a way itself, so that it can be changed; else a new, empty one."""
    found = at_path(data, way)
    return found if isinstance(found, dict) else {}


def mappings(data: Any, *way: str) -> list[dict[str, Any]]:
    """The mappings of a list."""
    found = at_path(data, way)
    return [it for it in found if isinstance(it, dict)] if isinstance(found, list) else []


def texts(data: Any, *way: str) -> tuple[str, ...]:
    """The texts of a list."""
    found = at_path(data, way)
    return tuple(it for it in found if isinstance(it, str)) if isinstance(found, list) else ()


def keyed_texts(data: Any, *way: str) -> Mapping[str, str]:
    """The values of a mapping that are texts, by key: labels, annotations."""
    found = mapping(data, *way)
    if _TEXT.issuperset(map(type, found.values())):
        return found  # as nearly all are: nobody changes it, so nobody needs a copy
    return {key: it for key, it in found.items() if isinstance(it, str)}
