"""Documents of one stream that differ only in what stands at the ends of lines: parsed once.

Manifests repeat: a thousand queues have the same keys in the same order. Two documents are alike
when they are the same text but for scalars at the ends of their lines that could not be anything
but scalars. The parser reads one of them, with a mark in the place of each such scalar, and where
the marks come out the scalars of the others belong.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from operator import itemgetter
from typing import Any, Final

import msgspec
from msgspec import Struct

from policygen.documents.scalars import Plains, Surprise
from policygen.documents.shared import Shared

OTHER: Final = object()
"""Stands for the data of documents that have to be parsed."""

Parse = Callable[[str], Any]
"""The data of the one document in a text; None if there is anything to say of it."""

_SCALAR = re.compile(r'("?)([A-Za-z0-9][A-Za-z0-9_./-]*)\1')
"""One word, in double quotes or plain: no indicator, no escape, nothing that folds."""

_HOLE = "\0"
"""Where a scalar was taken from a line; no text has this character."""
_MARK = "policygen-mark-"
_MARKS = re.compile(rf'"{_MARK}\d{{6}}"')

_FEWEST = 4
"""Documents that must be alike for a template of them to pay."""
_MOST_LINES = 1 << 20
"""Lines that are remembered, which bounds the memory."""

_SAMPLE = 200
"""Documents that are looked at first, from all over the stream."""

Shape = tuple[str, ...]
"""The lines of a document, each with a hole for the scalar at its end."""
Line = tuple[str, str]
"""A line with a hole for the scalar at its end, and the scalar as JSON; "" where it has none."""
Fill = Callable[[tuple[str, ...]], Any]
"""Makes the data of a document from the scalars of its lines."""


class Run(Struct, frozen=True):
    """A part of a stream: one document and its data, or several documents, and OTHER."""

    start: int
    end: int
    data: Any = OTHER


def runs(text: str, plains: Plains, parse: Parse) -> Iterator[Run]:
    """The parts of a stream, in order and without gaps."""
    bounds = _boundaries(text)
    if len(bounds) <= _FEWEST or _is_odd(text):
        yield Run(0, len(text))
        return
    lines = _Lines(plains)
    shared = Shared(msgspec.json.decode)
    spans = list(pairwise(bounds))
    some = spans[:: -(-len(spans) // _SAMPLE)]
    if not _repeat(lines.parted(text[start:end])[0] for start, end in some):
        yield Run(0, len(text))
        return
    kinds: dict[Shape, int] = {}
    members = []
    for start, end in spans:
        shape, scalars = lines.parted(text[start:end])
        members.append((start, end, kinds.setdefault(shape, len(kinds)), scalars))
    often = Counter(kind for _, _, kind, _ in members)
    fills = [
        _fill(shape, parse, shared) if often[kind] >= _FEWEST else None
        for shape, kind in kinds.items()
    ]
    begin = 0
    for start, end, kind, scalars in members:
        fill = fills[kind]
        if fill is None:
            continue
        if begin < start:
            yield Run(begin, start)
        yield Run(start, end, fill(scalars))
        begin = end
    if begin < len(text):
        yield Run(begin, len(text))


def _repeat(shapes: Iterable[Shape]) -> bool:
    """Whether a quarter of them come twice, so that it pays to look at all documents."""
    counts = Counter(shapes).values()
    return 4 * sum(count for count in counts if count > 1) >= sum(counts)


def _boundaries(text: str) -> list[int]:
    """Where documents begin, and the end of the text; the first begins at 0."""
    found = [0]
    at = text.find("\n---")
    while at >= 0:
        if text[at + 4 : at + 5] in {"", "\n", " ", "\t"}:
            found.append(at + 1)
        at = text.find("\n---", at + 4)
    return [*found, len(text)]


def _is_odd(text: str) -> bool:
    """Whether lines end otherwise than by a line feed, or documents not only at `---`."""
    ends = ("...", "%")
    return (
        "\r" in text
        or _MARK in text
        or text.startswith(ends)
        or any(f"\n{it}" in text for it in ends)
    )


class _Lines(dict[str, Line]):
    """What a line has beside the scalar at its end; each text is looked at once."""

    def __init__(self, plains: Plains) -> None:
        super().__init__()
        self.plains = plains

    def __missing__(self, text: str) -> Line:
        if len(self) >= _MOST_LINES:
            self.clear()
        line = self[text] = self._read(text)
        return line

    def parted(self, document: str) -> tuple[Shape, tuple[str, ...]]:
        """The shape of a document, and the scalars of its lines."""
        shape, scalars = zip(*map(self.__getitem__, document.split("\n")), strict=True)
        return shape, scalars

    def _read(self, text: str) -> Line:
        before, _, last = text.rpartition(" ")
        match = _SCALAR.fullmatch(last)
        if match is None or not before.endswith((":", "-")):
            return text, ""
        quote, word = match.groups()
        value = word if quote else self.plains[word]
        if isinstance(value, Surprise):
            return text, ""
        return f"{before} {quote}{_HOLE}{quote}", json.dumps(value)


def _fill(shape: Shape, parse: Parse, shared: Shared) -> Fill | None:
    """What makes documents of a shape; None where a hole is no scalar of its own.

    A hole may be in a comment, and then does not come out at all.
    """
    marked: list[str] = []
    for number, line in enumerate(shape):
        marked.append(line.replace(_HOLE, f"{_MARK}{number:06}"))
    data = parse("\n".join(marked))
    if not isinstance(data, dict):
        return None
    text = json.dumps(data)
    if msgspec.json.decode(text) != data:
        return None  # JSON has no word for something in it
    marks = [value for value in _texts(data) if value.startswith(_MARK)]
    if text.count(_MARK) != len(marks) or sum(map(len, marks)) != len(marks) * (len(_MARK) + 6):
        return None
    template = _MARKS.sub("%s", text.replace("%", "%%"))
    if not marks:
        return lambda _: shared.of_object(text)
    numbers = [int(mark[len(_MARK) :]) for mark in marks]
    chosen: Callable[[tuple[str, ...]], Any] = itemgetter(*numbers)
    return lambda scalars: shared.of_object(template % chosen(scalars))


def _texts(data: Any) -> Iterator[str]:
    """Every text that is a value, in the order in which JSON has them."""
    if isinstance(data, dict):
        for value in data.values():
            yield from _texts(value)
    elif isinstance(data, list):
        for value in data:
            yield from _texts(value)
    elif isinstance(data, str):
        yield data
