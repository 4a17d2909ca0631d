"""Fast path for YAML in which each line can be read by itself, as in most manifests.

It takes less than half of the time of `fast_yaml` (`benchmarks/lint_mixed.py`).
"""

import json
import re
from collections.abc import Iterable
from typing import Any

from policygen.documents import kubectl_scalars
from policygen.documents.parsed import MAX_DEPTH, FastDocument
from policygen.documents.scalars import AmbiguousScalar
from policygen.documents.surrogates import has_escapes

_MARKER = re.compile(r"\n---(?: *| +#.*)(?=\n)")

# Tabs, escapes and a colon or "#" that could have a meaning are not matched. A key may have 1,024 bytes.
# Possessive quantifiers ("*+") save a tenth of the time: no shorter match could be the right one. Python before
# 3.11.5 matches them wrongly after a group (python/cpython#106052), so only single characters have them.
# "(x|)" saves a quarter of the time of "(x)?", because Python allocates memory for each repeated group; so PLAIN tests
# for a colon before its group. A set of ASCII characters is faster than "\w".
QUOTED = r"\"[^\"\\\n\t]*+\"|'[^'\n\t]*+'"
KEY = r"[A-Za-z0-9_][A-Za-z0-9_./-]{,250}+|\"[^\"\\\n\t]{,250}+\"|'[^'\n\t]{,250}+'"
PLAIN = (
    r"(?:[A-Za-z0-9_/.$(+=<;^~\\]|-(?=[^ \n\t]))[^\n\t#:]*+"
    r"(?:(?!:)|(?::(?=[^ \n\t])[^\n\t#:]*+)*)"
)
FLOW = r"[{\[][^\n\t#]{,1000}"
BLOCK = r"\|-?\n(?P<inner> +)[^ \n\t].*(?:\n(?P=inner).*|\n *$)*"
_LINE = re.compile(
    rf"( *+)(- ++|)(?:({KEY}):(?=[ \n]) *+|)({PLAIN}|{QUOTED}|{FLOW}|{BLOCK}|)"
    r"(?:\n| *+(?:(?<![^ \n])#.*+|)\n)|(.+)\n?",
    re.MULTILINE,
)
"""Indentation, dash, key, value and indentation of a block scalar; or a line of another form."""
FLOW_SCALAR = rf"({QUOTED}|-{{,2}}[\w./$][\w./$ -]*(?=: |[,\]}}]))"
_FLOW_SCALAR = re.compile(rf"{FLOW_SCALAR}|[^\[\]{{}},: ]+", re.ASCII)
"""A scalar of a flow collection, or text that is not a simple one."""
_MAX_NESTED = MAX_DEPTH - 3
"""Collections around a line; a line adds two."""


class _UnusualLineError(ValueError):
    pass


class _Scalars(dict[str, Any]):
    """The values of scalars as they are written. Raises _UnusualLineError for ambiguous ones."""

    def __missing__(self, text: str) -> Any:
        value = text[1:-1] if text[0] in "\"'" else kubectl_scalars.read(text.rstrip(" "))
        if value.__class__ is AmbiguousScalar:
            raise _UnusualLineError
        self[text] = value
        return value


class _JsonScalars(dict[str | None, str]):
    """The same as JSON. Raises the error for None, too."""

    def __missing__(self, text: str | None) -> str:
        if text is None:
            raise _UnusualLineError
        written = self[text] = json.dumps(_SCALARS[text])
        return written


_SCALARS = _Scalars()
_JSON_SCALARS = _JsonScalars()
"""Files of one folder share most of their keys, and many values."""
_MAX_CACHED = 1 << 16
"""The most values that the next text finds in a cache."""


def documents(text: str) -> list[FastDocument] | None:
    """The documents of a text without forbidden characters, as kubectl reads them.

    None if it needs a YAML parser.
    It does if it has, for example, an anchor, a tag, a tab, an escape, a duplicate key, or a value
    of several lines that is not a block scalar.
    """
    if "\r" in text or not text.endswith("\n") or has_escapes(text):
        return None
    for cache in (_SCALARS, _JSON_SCALARS, _FLOWS):
        if len(cache) > _MAX_CACHED:
            cache.clear()
    # The added line break makes up for the one at the end, which is not in the match.
    markers = [match.span() for match in _MARKER.finditer(f"\n{text}")]
    ends = [*(start for start, _ in markers), len(text)]
    found = []
    try:
        for (start, begin), end in zip([(0, 0), *markers], ends, strict=True):
            data = _document(_LINE.findall(text, begin, end))
            if data is not None or begin:
                found.append(FastDocument(data, start, end, by_line=True))
    except ValueError:
        return None
    return found


def _document(lines: Iterable[Any]) -> Any:  # noqa: C901, PLR0912, PLR0915 - function calls would take longer
    """The data of the lines of a document; None without data. Raises ValueError if it is unusual."""
    scalars = _SCALARS
    root: dict[str, Any] = {}
    container: Any = root
    column = -1
    stack: list[tuple[Any, int]] = []
    key, open_key = "", True  # without a value in its line
    for indentation, dash, name, written, inner, other in lines:
        at = len(indentation)
        if dash:
            if open_key and (at > column or (at == column and container.__class__ is dict)):
                stack.append((container, column))
                below: Any = []
                container[key] = below
                container, column = below, at
            else:
                while column > at:
                    container, column = stack.pop()
                if column != at or container.__class__ is dict:
                    raise _UnusualLineError
            if name:
                stack.append((container, column))
                below = {}
                container.append(below)
                container, column = below, at + len(dash)
        elif name:
            if at != column or container.__class__ is list:
                if open_key and at > column:
                    stack.append((container, column))
                    below = {}
                    container[key] = below
                    container, column = below, at
                else:
                    while column > at or (column == at and container.__class__ is list):
                        container, column = stack.pop()
                    if column != at:
                        raise _UnusualLineError
        elif written or other:
            raise _UnusualLineError
        else:
            continue  # empty, or a comment
        open_key = not written
        if open_key:
            if not name or len(stack) > _MAX_NESTED:
                raise _UnusualLineError
            value = None
        elif written[0] not in "[{|":
            value = scalars[written]
        elif written[0] == "|":
            value = _block(written, len(inner), column)
        else:
            value = _flow(written, len(stack))
        if name:
            key = scalars[name]
            if key in container or key.__class__ is not str:
                raise _UnusualLineError
            container[key] = value
        else:
            container.append(value)
    return root.get("")


def _flow(text: str, depth: int) -> Any:
    """The value of a flow collection."""
    if depth + text.count("[") + text.count("{") > _MAX_NESTED:
        raise _UnusualLineError
    return _DECODE(_FLOWS[text])[0]


class _Flows(dict[str, str]):
    """Flow collections as JSON, which they are if their scalars are written as JSON."""

    def __missing__(self, text: str) -> str:
        parts = _FLOW_SCALAR.split(text)  # what is between scalars, and every other one is a scalar
        parts[1::2] = [_JSON_SCALARS[scalar] for scalar in parts[1::2]]
        written = "".join(parts).rstrip(" ")
        _, end = _CHECK(written)
        if end < len(written):
            raise _UnusualLineError
        self[text] = written
        return written


_FLOWS = _Flows()


def _mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _UnusualLineError
    return found


_CHECK = json.JSONDecoder(object_pairs_hook=_mapping).raw_decode
_DECODE = json.JSONDecoder().raw_decode


def _block(text: str, indentation: int, column: int) -> str:
    """The value of a block scalar; the first line is its header."""
    if indentation <= column:
        raise _UnusualLineError
    header, *lines = text.split("\n")
    value = "\n".join(line[indentation:] for line in lines).rstrip("\n")
    return value if header == "|-" else value + "\n"
