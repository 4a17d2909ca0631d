"""Finds the fields that a path names: complete, with names instead of indexes, or with an elision."""

import re
from collections.abc import Mapping, Sequence

from policygen.core.errors import UsageError
from policygen.core.finding import Path
from policygen.core.suggest import Names, suggest

_ELISION = re.compile(r"…|\.{2,}")
_QUERY_QUOTES = re.compile(r"\[['\"]?([^\]'\"]+)['\"]?\]")


def select(query: str, spelt: Mapping[Path, Sequence[str]], object_: str) -> list[Path]:
    """The fields that a query matches, or that are below a matching field.

    `spelt` has the spellings of each field. Raises UsageError if no field matches.
    """
    parts = [_plain(it).strip(".") for it in _ELISION.split(query)]
    if len(parts) > 1 and not parts[-1]:
        parts.pop()  # an elision at the end; what is below a field matches anyway
    ends = [re.escape(it) + (r"(?=\.|$)" if it else "") for it in parts]
    pattern = re.compile(r"(?:.*\.)?".join(ends))
    found = [
        path
        for path, texts in spelt.items()
        if any(_matches(pattern, _plain(text)) for text in texts)
    ]
    if not found:
        names = Names(text for texts in spelt.values() for text in texts)
        raise UsageError(f"{object_} has no field {query}; {_advice(query, parts, names)}")
    return found


def _advice(query: str, parts: Sequence[str], names: Names) -> str:
    """The most similar last name, or field; or the fields below the steps of the query that exist."""
    word = parts[-1].rpartition(".")[2] if parts[-1] else query
    last = Names(text.rpartition(".")[2] for text in names)
    if query in last:
        return f'did you mean "..{query}"?'
    # Paths of one object have equal beginnings, so complete paths are similar without being meant.
    below, _, _ = query.rpartition(".")
    while below and len(parts) == 1:
        inside = Names(it for it in names if _matches(re.compile(re.escape(below)), it))
        if inside:
            near = Names(it[len(below) + 1 :] for it in inside)
            rest = query[len(below) + 1 :]
            meant = near.meant(rest)
            return f'did you mean "{below}.{meant}"?' if meant else suggest(rest, near)
        below, _, _ = below.rpartition(".")
    return suggest(word, last) if last.meant(word) else suggest(query, names)


def _matches(pattern: re.Pattern[str], text: str) -> bool:
    found = pattern.match(text)
    return found is not None and text[found.end() : found.end() + 1] in ("", ".")


def _plain(text: str) -> str:
    """A path with a dot before each index and each name in brackets: `flavors.0.resources.cpu`."""
    return _QUERY_QUOTES.sub(r".\1", text)
