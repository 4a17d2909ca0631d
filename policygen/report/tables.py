"""Lines and tables for people, which fit the width of a terminal if there is one."""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TextIO

from policygen.core.quoting import counted
from policygen.report.text import folded, printable, width

BOLD, DIM, YELLOW = "\x1b[1m", "\x1b[2m", "\x1b[1;33m"
_RESET = "\x1b[0m"
NONE = "-"
"""A cell without a value."""
_INDENT = 4
_GAP = "  "
_NARROWEST = 40
"""Text is not wrapped to fewer columns."""

Row = tuple[str, ...]


def columns(out: TextIO | None, environ: Mapping[str, str]) -> int | None:
    """The width of the terminal, or COLUMNS; None: it is closed or no terminal, so lines may have any length."""
    if out is None or not out.isatty():
        return None
    given = environ.get("COLUMNS", "")
    if given.isdecimal() and int(given):
        return int(given)
    try:
        return os.get_terminal_size(out.fileno()).columns or None
    except OSError:
        return None


class TablePage:
    """Writes lines and tables. Characters that control a terminal are escaped."""

    def __init__(self, out: TextIO, *, colour: bool = False, wide: int | None = None) -> None:
        """`wide` is the number of columns; None: lines may have any length."""
        self._out = out
        self._colour = colour
        self._wide = wide if wide is None else max(wide, _NARROWEST)

    def line(self, *parts: str | tuple[str, str], indent: int = 0) -> None:
        """One text, wrapped at blanks if it is too wide. Of each part, a hue can follow the text."""
        pairs = [it if isinstance(it, tuple) else (it, "") for it in parts]
        painted = (self._painted(self._printable(text), hue) for text, hue in pairs)
        for it in folded(" " * indent + "".join(painted), self._wide):
            self._write(it)

    def heading(self, text: str) -> None:
        """An empty line and a title."""
        self._write("")
        self.line((text, BOLD))

    def rest(self, number: int, noun: str) -> None:
        """How many things are not shown."""
        if number > 0:
            self.line(f"and {counted(f'{number} more', noun, f'{noun}s')} (--all shows all)")

    def table(
        self,
        title: str,
        heads: Row,
        rows: Sequence[Row],
        numbers: Iterable[int] = (),
        below: Mapping[int, str] | None = None,
    ) -> None:
        """A title and aligned columns; nothing without rows. Columns without text are omitted.

        In a table that is too wide, the columns of `below` move to a line below each row, in this order, until
        it fits; their values follow the words for each.
        """
        if not rows:
            return
        self.heading(title)
        cells = [[self._printable(it) for it in row] for row in (heads, *rows)]
        used = [i for i in range(len(heads)) if any(row[i] for row in cells[1:])]
        widths = [max(width(row[i]) for row in cells) for i in range(len(heads))]
        moved: list[int] = []
        for i in below or ():
            if i in used and self._too_wide([widths[it] for it in used]):
                used.remove(i)
                moved.append(i)
        right = frozenset(numbers)
        for number, row in enumerate(cells):
            text = _GAP.join(_padded(row[i], widths[i], right=i in right) for i in used).rstrip()
            self._write(text if number else self._painted(text, DIM))
            if number and moved and below is not None:
                parts = [f"{below[i]}{row[i]}" for i in sorted(moved) if row[i] not in ("", NONE)]
                if parts:
                    self.line("; ".join(parts), indent=_INDENT)

    def _too_wide(self, widths: Sequence[int]) -> bool:
        total = sum(widths) + len(_GAP) * (len(widths) - 1)
        return self._wide is not None and total > self._wide

    def _write(self, text: str) -> None:
        self._out.write(f"{text.rstrip()}\n")

    def _printable(self, text: str) -> str:
        return printable(text, self._out.encoding or "utf-8")

    def _painted(self, text: str, hue: str) -> str:
        return f"{hue}{text}{_RESET}" if self._colour and hue else text


def _padded(text: str, size: int, *, right: bool) -> str:
    space = " " * (size - width(text))
    return space + text if right else text + space
