"""The position of a character in a text: line, column, and the line itself."""

import re
from itertools import accumulate
from typing import Protocol

from msgspec import Struct, field

from policygen.core.finding import Place

LINE_END = re.compile(r"\r\n|\n|\r")
"""As editors count them."""
_PART = 1 << 12
"""The characters of a part of a text. In compiled code, line breaks of one part are counted at once."""


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
    _feeds: str = ""
    """The text with one line feed for each line break, at the same place."""
    _counts: list[int] = field(default_factory=list)
    """The number of line breaks before each part of the text."""
    _shown: tuple[int, str] = (-1, "")
    """The number and text of the last line, since many places on one huge line share its string."""

    def place(self, start: int, end: int) -> Place:
        """The place of text[start:end]; after the end of the text, the end."""
        number, begin, stop = self.line(start)
        start = min(start, stop)
        if self._shown[0] != number:
            self._shown = (number, self.text[begin:stop])
        length = max(min(end, stop) - start, 0)
        return Place(self.name, number + 1, start - begin + 1, length, self._shown[1])

    def line(self, index: int) -> tuple[int, int, int]:
        """The number of a character's line, from 0, and where it begins and ends without its line break.

        The end of the text is on its last line with text.
        """
        if not self._counts:
            self._count()
        text = self._feeds
        if index >= len(text):
            index = len(text) - text.endswith("\n")
        part = index // _PART
        begin, stop = text.rfind("\n", 0, index) + 1, text.find("\n", index)
        stop = len(text) if stop < 0 else stop - (self.text[stop - 1 : stop + 1] == "\r\n")
        return self._counts[part] + text.count("\n", part * _PART, index), begin, stop

    def _count(self) -> None:
        text = self.text
        if "\r" in text:
            text = text.replace("\r\n", " \n").replace("\r", "\n")
        parts = range(0, len(text), _PART)
        self._feeds = text
        self._counts = [0, *accumulate(text.count("\n", it, it + _PART) for it in parts)]


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
        number, begin, stop = self._lines.line(start)
        origin = self.origins[number] if number < len(self.origins) else None
        if origin is None:
            return self.fallback
        start, end = min(start, stop) - begin, min(end, stop) - begin
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
