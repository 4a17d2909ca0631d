"""Whether a document that a user's template printed is the one object that was planned, and sound."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from policygen.api_validation import schemas
from policygen.api_validation.refusals import refusals
from policygen.core.finding import dotted
from policygen.core.names import MANAGED_BY, SET, TOOL
from policygen.core.quoting import shown
from policygen.documents.parse import compose
from policygen.plan.catalog import KINDS
from policygen.plan.kind import Item

_SHOWN = 3


def fault(item: Item, text: str, *, judged: bool = False) -> str | None:
    """What is wrong with a document that should be this item; None if nothing is.

    It is read as kubectl reads it, and no key may stand twice in one mapping. With `judged`,
    what an API server would refuse is wrong, too.
    """
    documents = list(compose(text, json=False, line=partial(_line, text), kubernetes=True))
    problem = next((it for each in documents for it in (*each.syntax, *each.content)), None)
    if problem is not None:
        line = _line(text, problem.start)
        return f"prints no sound YAML, in line {line} of what it prints: {problem.message}"
    if len(documents) != 1:
        return f"prints {len(documents)} documents; a template prints one, without a line ---"
    fields = documents[0].data
    if not isinstance(fields, dict):
        return "prints no object; an object begins with apiVersion, kind and metadata"
    different = next(_differences(item, fields), None)
    if different is None and judged:
        return _refused(item, fields)
    return different


def _refused(item: Item, fields: dict[Any, Any]) -> str | None:
    kind = schemas.served(item.release.api_version, item.kind.name)
    if kind is None:
        return None
    told = [f"{dotted(each.path)}: {each.message}" for each in refusals(fields, kind)]
    if not told:
        return None
    if len(told) > _SHOWN:
        told[_SHOWN:] = [f"and {len(told) - _SHOWN} more"]
    said = "".join(f"{each} " if each.endswith("?") else f"{each}; " for each in told)
    return f"prints what an API server refuses: {said.rstrip('; ')}"


def _line(text: str, index: int) -> int:
    """The line as the template prints it: without the `---` in front."""
    return text.count("\n", 0, index)


def _differences(item: Item, fields: dict[Any, Any]) -> Iterator[str]:
    for path, planned in _identity(item):
        found: Any = fields
        for step in path:
            found = found.get(step) if isinstance(found, dict) else None
        if found != planned:
            name = ".".join(path[:2]) + (f" {path[2]}" if path[2:] else "")
            yield f"prints {name} {shown(found)}, planned is {shown(planned)}"


def _identity(item: Item) -> Iterator[tuple[tuple[str, ...], str | None]]:
    if item.release.api_version:
        yield ("apiVersion",), item.release.api_version
        yield ("kind",), item.kind.name
    if item.kind in KINDS:  # the others are controllers' files, which have no name
        yield ("metadata", "name"), item.meta.name
        yield ("metadata", "namespace"), item.meta.namespace
        yield ("metadata", "labels", MANAGED_BY), TOOL
        yield ("metadata", "labels", SET), item.meta.set
