"""Writes documents of a spec as YAML, with comments above their fields.

The only writer of specs: `documents(spec)` of `spec_data` makes the data.
"""

from collections.abc import Iterable, Iterator, Mapping
from textwrap import wrap
from typing import Any

from policygen.adopt.spec_data import SpecDocument
from policygen.core.finding import Path
from policygen.render.scalar import encode

WIDTH = 100
"""Columns of a line with a comment."""

_STEP = 2

Comments = Mapping[Path, Iterable[str]]
"""Sentences by the path of a field; the empty path is the document itself."""


def write(
    documents: Iterable[SpecDocument], comments: Mapping[tuple[str, str], Comments] | None = None
) -> str:
    """The documents as one YAML text, each with its comments by kind and name.

    A comment at a path that a document does not have is written above the nearest field around it,
    so that none is lost.
    """
    return "".join(
        _text(it.data, (comments or {}).get((it.form.kind, it.name), {})) for it in documents
    )


def _text(data: dict[str, Any], comments: Comments) -> str:
    placed: dict[Path, list[str]] = {}
    for path, sentences in comments.items():
        placed.setdefault(_existing(data, path), []).extend(sentences)
    lines = ["---", *_comment(placed.get((), ()), 0), *_mapping(data, 0, (), placed)]
    return "\n".join(lines) + "\n"


def _existing(data: Any, path: Path) -> Path:
    """The longest part of a path that the data has."""
    for length, step in enumerate(path):
        keys = data if isinstance(data, dict) else range(len(data) if isinstance(data, list) else 0)
        if step not in keys:
            return path[:length]
        data = data[step]
    return path


def _comment(sentences: Iterable[str], indent: int) -> Iterator[str]:
    margin = " " * indent + "# "
    for sentence in sentences:
        for line in wrap(sentence, WIDTH - len(margin), break_long_words=False):
            yield margin + line


def _mapping(
    data: dict[str, Any], indent: int, at: Path, comments: Mapping[Path, list[str]]
) -> Iterator[str]:
    margin = " " * indent
    for key, value in data.items():
        path = (*at, key)
        yield from _comment(comments.get(path, ()), indent)
        if isinstance(value, dict | list) and value:
            yield f"{margin}{encode(key)}:"
            yield from _inner(value, indent + _STEP, path, comments)
        else:
            yield f"{margin}{encode(key)}: {encode(value)}"


def _inner(
    value: dict[str, Any] | list[Any], indent: int, at: Path, comments: Mapping[Path, list[str]]
) -> Iterator[str]:
    if isinstance(value, dict):
        yield from _mapping(value, indent, at, comments)
        return
    margin = " " * indent
    for index, entry in enumerate(value):
        path = (*at, index)
        yield from _comment(comments.get(path, ()), indent)
        if isinstance(entry, dict) and entry:
            lines = list(_mapping(entry, indent + _STEP, path, comments))
            # The dash goes before the first field; the comments of that field go above it.
            first = next(
                number for number, it in enumerate(lines) if not it.lstrip().startswith("#")
            )
            yield from (margin + it.lstrip() for it in lines[:first])
            yield f"{margin}- {lines[first].lstrip()}"
            yield from lines[first + 1 :]
        else:
            yield f"{margin}- {encode(entry)}"
