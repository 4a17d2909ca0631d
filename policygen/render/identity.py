"""Checks that a user's template printed exactly the planned object, and that it is valid."""

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
    """The fault of a document that should be this item; None if it has no fault.

    The document is parsed as kubectl parses it, and duplicate keys are a fault. With `judged`,
    fields that an API server would refuse are a fault too.
    """
    documents = list(compose(text, json=False, line=partial(_line, text), kubernetes=True))
    problem = next((it for each in documents for it in (*each.syntax, *each.content)), None)
    if problem is not None:
        line = _line(text, problem.start)
        return f"the template prints invalid YAML, in line {line} of its output: {problem.message}"
    if len(documents) != 1:
        return f"the template prints {len(documents)} documents; print one document, without a line ---"
    fields = documents[0].data
    if not isinstance(fields, dict):
        return (
            "the template prints data that is not an object; print an object with apiVersion, kind "
            "and metadata"
        )
    different = next(_differences(item, fields), None)
    if different is None and judged:
        return _refused(item, fields)
    return different


def _refused(item: Item, fields: dict[Any, Any]) -> str | None:
    kind = schemas.served(item.release.api_version, item.kind.name)
    if kind is None:
        return None
    faults = [f"{dotted(refusal.path)}: {refusal.message}" for refusal in refusals(fields, kind)]
    if not faults:
        return None
    if len(faults) > _SHOWN:
        faults[_SHOWN:] = [f"and {len(faults) - _SHOWN} more"]
    text = "".join(f"{fault} " if fault.endswith("?") else f"{fault}; " for fault in faults)
    return f"the template prints an object that an API server refuses: {text.rstrip('; ')}"


def _line(text: str, index: int) -> int:
    """The number of a line in the output of the template, without the `---` before it."""
    return text.count("\n", 0, index)


def _differences(item: Item, fields: dict[Any, Any]) -> Iterator[str]:
    for path, planned in _identity(item):
        found: Any = fields
        for step in path:
            found = found.get(step) if isinstance(found, dict) else None
        if found != planned:
            name = ".".join(path[:2]) + (f" {path[2]}" if path[2:] else "")
            yield (
                f"the template prints {name} {shown(found)}, but this object must have "
                f"{shown(planned)}"
            )


def _identity(item: Item) -> Iterator[tuple[tuple[str, ...], str | None]]:
    if item.release.api_version:
        yield ("apiVersion",), item.release.api_version
        yield ("kind",), item.kind.name
    if item.kind in KINDS:  # the others are configuration files, which have no name
        yield ("metadata", "name"), item.meta.name
        yield ("metadata", "namespace"), item.meta.namespace
        yield ("metadata", "labels", MANAGED_BY), TOOL
        yield ("metadata", "labels", SET), item.meta.set
