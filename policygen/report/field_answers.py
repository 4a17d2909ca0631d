"""Writes what `explain` answers about rendered objects, as text or JSON."""

import json as json_text
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TextIO

from policygen.core.finding import At, dotted
from policygen.core.quoting import counted
from policygen.explain.answer import Borrowing, Dependents, FieldAnswer, ObjectAnswer, Origin
from policygen.explain.step import Step
from policygen.report.phrases import write_json
from policygen.report.tables import BOLD, DIM, TablePage

VERSION = 1
_INDENT = 2
_OBJECTS = 6
"""The number of dependent objects in text, for each place of the spec."""
_TEAMS = 12
_WIDEST = 72
"""The columns of a value in a table. The answer about one field has the value in full."""
_UNKNOWN = {
    "template": "A template of yours adds this field, so policygen does not describe it.",
    "file": "policygen copies this field from your configuration file, and does not describe it.",
}


def text(found: ObjectAnswer, page: TablePage) -> None:
    """Write one field in full, or a table of the fields with the origin of each."""
    if len(found.fields) == 1:
        _write_field(found, found.fields[0], page)
        return
    rows = [
        (dotted(it.path), _shortened(_value(it.value)), _origins(it, found.origins))
        for it in found.fields
    ]
    page.line((found.object, BOLD))
    page.table("Fields", ("FIELD", "VALUE", "FROM"), rows, below={2: "", 1: "= "})
    page.line("")
    name = "/".join(found.object.split())
    page.line(f"policygen explain {name} FIELD explains one field")


def json(found: ObjectAnswer, out: TextIO) -> None:
    """Write one JSON object and a newline, as schemas/explain.schema.json describes it."""
    write_json(
        {
            "version": VERSION,
            "object": found.object,
            "fields": [_json_field(it, found.origins) for it in found.fields],
            "dependents": [_json_dependents(it, found.origins) for it in found.dependents],
            "borrowing": found.borrowing
            and {
                "lendsTo": list(found.borrowing.lends_to),
                "borrowsFrom": list(found.borrowing.borrows_from),
                "reclaims": found.borrowing.reclaims,
            },
        },
        out,
    )


def _write_field(found: ObjectAnswer, field: FieldAnswer, page: TablePage) -> None:
    lines = field.value.splitlines() if isinstance(field.value, str) else []
    shown = "" if len(lines) > 1 else _value(field.value)
    page.line((found.object, BOLD), f" {dotted(field.path)} = ", (shown, BOLD))
    for line in lines if len(lines) > 1 else ():
        page.line((line, BOLD), indent=_INDENT)
    page.heading("How it is computed")
    for it in field.steps:
        page.line(step_line(it, found.origins), indent=_INDENT)
    page.heading("What it does")
    meaning = field.meaning
    if meaning is None:
        page.line(_UNKNOWN["file" if field.path[0] == "data" else "template"], indent=_INDENT)
    else:
        page.line(meaning.does, indent=_INDENT)
        page.line((f"Source: {meaning.source}", DIM), indent=_INDENT)
    if found.borrowing is not None:
        page.heading("Who borrows")
        for line in _borrowing(found.borrowing):
            page.line(line, indent=_INDENT)
    if found.dependents:
        page.heading("What else is computed from these places")
        for each in found.dependents:
            page.line(_dependents(each, found.origins), indent=_INDENT)


def _borrowing(found: Borrowing) -> Iterator[str]:
    if found.borrows_from:
        yield f"It borrows from: {_some(found.borrows_from)}."
        if found.reclaims:
            yield "A team that needs its own amount evicts the workloads that borrow it."
        return
    if not found.lends_to:
        yield "No team borrows this amount."
        return
    yield f"While it is idle, these teams can borrow it: {_some(found.lends_to)}."
    if found.reclaims:
        yield "Its owner can evict their workloads to take it back."


def _some(names: Sequence[str]) -> str:
    more = len(names) - _TEAMS
    return ", ".join(names[:_TEAMS]) + (f" and {more} more" if more > 0 else "")


def step_line(step: Step, origins: Mapping[At, Origin]) -> str:
    """One line: `cpu of a node = 96000m - 310m = 95690m`, and where a value was read."""
    value = step.value if "\n" not in step.value else _shortened(step.value)
    parts = [step.name, step.formula, value] if step.formula else [step.name, value]
    about = [located(step.at, origins)] if step.at else []
    about += [step.note] if step.note else []
    return " = ".join(parts) + (f"  ({'; '.join(about)})" if about else "")


def _dependents(found: Dependents, origins: Mapping[At, Origin]) -> str:
    place = ", ".join(filter(None, (located(found.at, origins), dotted(found.at.path))))
    by_object: dict[str, list[str]] = {}
    for name, path in found.fields:
        by_object.setdefault(name, []).append(dotted(path))
    if len(by_object) > _OBJECTS:
        first = list(by_object)[:2]
        fields = counted(len(found.fields), "field")
        return f"{place}: {fields} of {len(by_object)} objects, such as {' and '.join(first)}"
    shown = [
        f"{name} {paths[0]}" if len(paths) == 1 else f"{name} ({counted(len(paths), 'field')})"
        for name, paths in by_object.items()
    ]
    return f"{place}: {', '.join(shown)}"


def _origins(field: FieldAnswer, origins: Mapping[At, Origin]) -> str:
    """Where a value comes from, in one cell. A file is named once."""
    last = field.steps[-1]
    places: dict[str, list[str]] = {}
    for at in field.places:
        place = origins[at].place
        places.setdefault(place.file, []).append(str(place.line))
    read = ", ".join(f"{file}:{','.join(dict.fromkeys(lines))}" for file, lines in places.items())
    return " from ".join(it for it in (last.formula, read) if it) or last.note


def located(at: At, origins: Mapping[At, Origin]) -> str:
    """A place as `file:line`, and whether the spec writes it."""
    origin = origins[at]
    place = f"{origin.place.file}:{origin.place.line}"
    return place if origin.written else f"{place} (default)"


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return str(value)
    return value if "\n" in value else json_text.dumps(value, ensure_ascii=False)


def _shortened(value: str) -> str:
    """The first line of a value in a table, as far as it has room."""
    first, *more = value.splitlines() or [""]
    if len(first) > _WIDEST:
        return f"{first[:_WIDEST]}…"
    return f"{first} … ({counted(len(more), 'more line')})" if more else first


def _json_field(field: FieldAnswer, origins: Mapping[At, Origin]) -> dict[str, Any]:
    meaning = field.meaning
    return {
        "path": dotted(field.path),
        "value": field.value,
        "steps": [json_step(it, origins) for it in field.steps],
        "does": meaning.does if meaning else None,
        "source": meaning.source if meaning else None,
        "always": (meaning.always or None) if meaning else None,
    }


def _json_dependents(found: Dependents, origins: Mapping[At, Origin]) -> dict[str, Any]:
    return {
        "place": json_place(found.at, origins),
        "fields": [{"object": name, "path": dotted(path)} for name, path in found.fields],
    }


def json_step(step: Step, origins: Mapping[At, Origin]) -> dict[str, Any]:
    """A step of an arithmetic, as schemas/explain.schema.json describes it."""
    return {
        "name": step.name,
        "value": step.value,
        "formula": step.formula or None,
        "place": json_place(step.at, origins) if step.at else None,
        "note": step.note or None,
    }


def json_place(at: At, origins: Mapping[At, Origin]) -> dict[str, Any]:
    """A place in the spec, as schemas/explain.schema.json describes it."""
    origin = origins[at]
    return {
        "file": origin.place.file,
        "line": origin.place.line,
        "column": origin.place.column,
        "path": dotted(at.path),
        "written": origin.written,
    }
