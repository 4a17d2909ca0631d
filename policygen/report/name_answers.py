"""Writes what `explain` answers about names of a spec, and about fields of its schema."""

from collections.abc import Iterator, Mapping
from typing import Any, TextIO

from policygen.core.finding import At
from policygen.explain.answer import Origin
from policygen.explain.named import NameAnswer
from policygen.explain.spec_field import SpecField
from policygen.report.field_answers import VERSION, json_place, json_step, located, step_line
from policygen.report.phrases import write_json
from policygen.report.tables import BOLD, DIM, TablePage

_INDENT = 2


def name(found: NameAnswer, page: TablePage, *, origins: Mapping[At, Origin]) -> None:
    """Write the sections about a team, model or pool."""
    page.line((found.title, BOLD), f" ({located(found.at, origins)})")
    for section in found.sections:
        page.heading(section.title)
        for line in section.lines:
            page.line(line, indent=_INDENT)
        for step in section.steps:
            page.line(step_line(step, origins), indent=_INDENT)


def name_json(found: NameAnswer, out: TextIO, *, origins: Mapping[At, Origin]) -> None:
    """Write one JSON object and a newline, as schemas/explain.schema.json describes it."""
    write_json(
        {
            "version": VERSION,
            "title": found.title,
            "place": json_place(found.at, origins),
            "sections": [
                {
                    "title": it.title,
                    "lines": list(it.lines),
                    "steps": [json_step(step, origins) for step in it.steps],
                }
                for it in found.sections
            ],
        },
        out,
    )


def spec_field(found: SpecField, page: TablePage, *, recursive: bool = False) -> None:
    """Write a field of the spec and its children; with `recursive` all fields below it, in short."""
    page.line((found.path, BOLD), f" <{found.type}>{_required(found)}")
    page.line("")
    page.line(found.description, indent=_INDENT)
    for line in _facts(found):
        page.line(line, indent=_INDENT)
    if found.children:
        page.heading("Fields")
    for it in _below(found) if recursive else ((0, it) for it in found.children):
        depth, child = it
        indent = _INDENT + depth * _INDENT
        page.line((child.name, BOLD), f" <{child.type}>{_required(child)}", indent=indent)
        if not recursive:
            page.line((child.description, DIM), indent=indent + _INDENT)


def spec_field_json(found: SpecField, out: TextIO, *, recursive: bool = False) -> None:
    """Write one JSON object and a newline, as schemas/explain.schema.json describes it."""
    fields = [_json_field(it, recursive=recursive) for it in found.children]
    shown = {**_json_field(found, recursive=False), "fields": fields}
    write_json({"version": VERSION, "path": found.path, **shown}, out)


def _json_field(found: SpecField, *, recursive: bool) -> dict[str, Any]:
    fields = [_json_field(it, recursive=True) for it in found.children] if recursive else None
    return {
        "name": found.name,
        "type": found.type,
        "description": found.description,
        "required": found.required,
        "default": found.default or None,
        "allowed": list(found.allowed),
        "examples": list(found.examples),
        "fields": fields,
    }


def _facts(found: SpecField) -> Iterator[str]:
    if found.allowed:
        yield f"Allowed: {', '.join(found.allowed)}"
    if found.default:
        yield f"Default: {found.default}"
    if found.examples:
        yield f"Examples: {', '.join(found.examples)}"


def _required(found: SpecField) -> str:
    return ", required" if found.required else ""


def _below(found: SpecField, depth: int = 0) -> Iterator[tuple[int, SpecField]]:
    for child in found.children:
        yield depth, child
        yield from _below(child, depth + 1)
