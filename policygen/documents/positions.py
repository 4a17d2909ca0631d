"""The position of a character in a text: line, column, and the line itself."""

import re
from bisect import bisect_right
from itertools import accumulate
from typing import Protocol

from msgspec import Struct, field

from policygen.core.finding import Place

LINE_END = re.compile(r"\r\n|\n|\r")
"""As editors count them."""


def line_start(text: str, index: int) -> int:
    """Where the line of a character begins."""
    begin = text.rfind("\n", 0, index) + 1
    # Searches only after `begin`: most texts have no "\r", and the search would go back to their start.
    return text.rfind("\r", begin, index) + 1 or begin


def line_starts(text: str) -> list[int]:
    """Where each line begins; after a line break at the end, the last one is empty."""
    return [0, *(found.end() for found in LINE_END.finditer(text))]


def line_break(text: str) -> str:
    """The first line break of a text, or the usual one."""
    found = LINE_END.search(text)
    return found[0] if found else "\n"


class Positions(Protocol):
    """Converts spans of a text to places."""

    @property
    def text(self) -> str:
        """The text that spans refer to."""

    def place(self, start: int, end: int) -> Place:
        """The place of text[start:end], cut at the end of its first line."""


class Lines(Struct, eq=False):
    """The positions in the text of a file; lines are counted when the first place is needed."""

    name: str
    text: str
    _starts: list[int] = field(default_factory=list)
    _ends: list[int] = field(default_factory=list)
    _shown: tuple[int, str] = (-1, "")
    """The number and text of the last line, since many places on one huge line share its string."""

    def place(self, start: int, end: int) -> Place:
        """The place of text[start:end]; after the end of the text, the end."""
        number = self.number(start)
        begin, stop = self._starts[number], self._ends[number]
        start = min(start, stop)
        if self._shown[0] != number:
            self._shown = (number, self.text[begin:stop])
        length = max(min(end, stop) - start, 0)
        return Place(self.name, number + 1, start - begin + 1, length, self._shown[1])

    def number(self, index: int) -> int:
        """The line of a character, from 0; the end of the text is on its last line with text."""
        if not self._starts:
            self._count()
        number = bisect_right(self._starts, index) - 1
        return number - 1 if number and self._starts[number] == len(self.text) else number

    def span(self, number: int) -> tuple[int, int] | None:
        """Where a line, counted from 0, begins and ends without its line break."""
        if not self._starts:
            self._count()
        return (self._starts[number], self._ends[number]) if number < len(self._starts) else None

    def _count(self) -> None:
        self._starts.append(0)
        if "\r" not in self.text:  # the usual case, and five times as fast
            self._starts += accumulate(len(row) + 1 for row in self.text.split("\n")[:-1])
            self._ends += [start - 1 for start in self._starts[1:]]
            self._ends.append(len(self.text))
            return
        for match in LINE_END.finditer(self.text):
            self._ends.append(match.start())
            self._starts.append(match.end())
        self._ends.append(len(self.text))


class Inset(Struct, eq=False):
    """The positions of a text inside another one, such as a block scalar.

    `fallback` is the place of the complete scalar, for parts without an exact place. `origins` has
    for each line of `text` its start in the host's text, if the host contains the same line.
    """

    text: str
    host: Positions
    fallback: Place
    origins: list[int | None]
    _lines: Lines = field(default_factory=lambda: Lines("", ""))

    def __post_init__(self) -> None:
        self._lines = Lines("", self.text)

    def place(self, start: int, end: int) -> Place:
        """The place in the outermost text, or the fallback."""
        number = self._lines.number(start)
        origin = self.origins[number] if number < len(self.origins) else None
        span = self._lines.span(number)
        if origin is None or span is None:
            return self.fallback
        start, end = min(start, span[1]) - span[0], min(end, span[1]) - span[0]
        return self.host.place(origin + start, origin + max(start, end))


def literal_origins(inner: str, outer: str, header: int) -> list[int | None]:
    """The start of each line of a literal block in the outer text.

    `header` is the index of the block's `|`. A line that is not found has no start.
    """
    lines = inner.split("\n")
    origins: list[int | None] = []
    match = LINE_END.search(outer, header)
    indent: int | None = None
    for line in lines:
        if match is None:
            break
        begin = match.end()
        match = LINE_END.search(outer, begin)
        raw = outer[begin : match.start() if match else len(outer)]
        if indent is None and line.strip():
            indent = len(raw) - len(line)
        if line and raw[indent or 0 :] == line:
            origins.append(begin + (indent or 0))
        else:
            origins.append(begin + min(indent or 0, len(raw)) if not line else None)
    return origins
