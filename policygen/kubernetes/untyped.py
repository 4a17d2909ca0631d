"""Parts of data that nobody has checked: what is not of the form asked for is as if it were not there."""

from collections.abc import Iterator, Mapping
from typing import Any

from policygen.core.finding import at_path

_TEXT = frozenset({str})


def mapping(data: Any, *way: str) -> dict[str, Any]:
    """The mapping at the end of a way itself, so that it can be changed; else a new, empty one."""
    for step in way:
        if not isinstance(data, dict):
            return {}
        data = data.get(step)
    return data if isinstance(data, dict) else {}


def mappings(data: Any, *way: str) -> list[dict[str, Any]]:
    """The mappings of a list."""
    return [it for it in entries(data, *way) if isinstance(it, dict)]


def numbered(data: Any, *way: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The mappings of a list, each with its place there."""
    for i, it in enumerate(entries(data, *way)):
        if isinstance(it, dict):
            yield i, it


def entries(data: Any, *way: str) -> list[Any]:
    """A list itself; else a new, empty one."""
    found = at_path(data, way)
    return found if isinstance(found, list) else []


def texts(data: Any, *way: str) -> tuple[str, ...]:
    """The texts of a list."""
    return tuple(it for it in entries(data, *way) if isinstance(it, str))


def keyed_texts(data: Any, *way: str) -> Mapping[str, str]:
    """The values of a mapping that are texts, by key: labels, annotations."""
    found = mapping(data, *way)
    if _TEXT.issuperset(map(type, found.values())):
        return found  # as nearly all are: nobody changes it, so nobody needs a copy
    return {key: it for key, it in found.items() if isinstance(it, str)}


def text(data: Any, *way: str) -> str:
    """The text at the end of a way; empty where there is none."""
    found = at_path(data, way)
    return found if isinstance(found, str) else ""


def whole(value: Any) -> int | None:
    """An integer; None for all else, and so for true and false."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None
