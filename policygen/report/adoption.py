"""Reports the differences of an adopted spec, and its guesses."""

from collections.abc import Iterator, Sequence
from typing import Any, TextIO

from msgspec import UNSET, Struct
from msgspec.json import encode

from policygen.adopt.compare import SpecDifference
from policygen.adopt.trees import Guess
from policygen.core.finding import dotted
from policygen.core.quoting import counted
from policygen.report.markdown_page import MarkdownPage
from policygen.report.phrases import write_json


class Adoption(Struct, frozen=True):
    """An adopted spec, and everything on which it and the objects differ."""

    files: tuple[tuple[str, str], ...]
    """The texts of the spec, by the names of their files."""
    guesses: tuple[Guess, ...]
    differences: tuple[SpecDifference, ...]
    unread: tuple[str, ...]
    """What could not be read."""

    @property
    def text(self) -> str:
        """The complete spec."""
        return "".join(text for _, text in self.files)


def lines(adoption: Adoption) -> Iterator[str]:
    """The list for people: one line a field."""
    for message in adoption.unread:
        yield f"not read: {message}"
    for it in adoption.differences:
        yield ": ".join(filter(None, (it.object, it.field, it.message)))
    differences = counted(len(adoption.differences), "difference")
    objects = counted(len({it.object for it in adoption.differences}), "object")
    guesses = counted(len(adoption.guesses), "guess", "guesses")
    if adoption.differences:
        yield f"{differences} in {objects}; the spec has {guesses} in its comments"
    else:
        yield f"the spec renders every object that was read, without differences; it has {guesses} in its comments"


def markdown(adoption: Adoption, out: TextIO, *, files: bool) -> None:
    """Write the list as tables of Markdown, and with `files` the spec."""
    page = MarkdownPage(out)
    *_, closing = lines(adoption)
    page.line(closing)
    for message in adoption.unread:
        page.line(f"not read: {message}")
    of_values = [it for it in adoption.differences if it.found is not it.rendered]
    fields = [(it.object, it.field, _value(it.found), _value(it.rendered)) for it in of_values]
    page.table("Fields", ("OBJECT", "FIELD", "HERE", "RENDERED"), fields)
    others = [
        (it.object, it.field, it.message) for it in adoption.differences if it.found is it.rendered
    ]
    page.table("Other differences", ("OBJECT", "FIELD", "DIFFERENCE"), others)
    rows = [(f"{it.kind} {it.name}", dotted(it.path), it.text) for it in adoption.guesses]
    page.table("Guesses", ("DOCUMENT", "FIELD", "GUESS"), rows)
    for name, text in adoption.files if files else ():
        page.heading(name)
        page.code(text, "yaml")


def _value(value: Any) -> str:
    """A value in a table; empty if the field is not set."""
    if value is UNSET:
        return ""
    return value if isinstance(value, str) else encode(value).decode()


def json(adoption: Adoption, out: TextIO) -> None:
    """Write one JSON object and a newline, as schemas/adoption.schema.json describes it."""
    written = {
        "version": 1,
        "files": dict(adoption.files),
        "guesses": [_guess(it) for it in adoption.guesses],
        "differences": _objects(adoption.differences),
        "unread": list(adoption.unread),
    }
    write_json(written, out)


def _guess(guess: Guess) -> dict[str, str]:
    return {
        "kind": guess.kind,
        "name": guess.name,
        "field": dotted(guess.path),
        "message": guess.text,
    }


def _objects(found: Sequence[SpecDifference]) -> list[dict[str, Any]]:
    return [
        {
            "object": it.object,
            "field": it.field,
            "message": it.message,
            "found": None if it.found is UNSET else it.found,
            "rendered": None if it.rendered is UNSET else it.rendered,
        }
        for it in found
    ]
