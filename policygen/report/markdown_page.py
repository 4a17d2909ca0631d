"""The lines and tables of reports for people as Markdown, for a page or a comment on a pull request."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TextIO

from policygen.report.markdown import MAX_CHARACTERS, escaped
from policygen.report.tables import BOLD, YELLOW, Row, TablePage
from policygen.report.text import printable

_STRONG = frozenset({BOLD, YELLOW})
_NUMBERED = re.compile(r"\d+\. ")
_ACRONYM = re.compile(r"\b(?:gpu|cpu)", re.IGNORECASE)
_FENCE = re.compile(r"^`{3,}", re.MULTILINE)
_NESTING = 2
"""The blanks with which text begins a list; more blanks begin a list inside of it."""
_CUT = "The rest is too long for a comment; `-f text` and `-f json` have all of it"


class MarkdownPage(TablePage):
    """Writes what a TablePage writes, as Markdown. Markup in the text is escaped.

    At most about `room` characters: the rest does not fit in a comment.
    """

    def __init__(self, out: TextIO, room: int = MAX_CHARACTERS) -> None:
        super().__init__(out)
        self._room = room
        self._fence = ""
        """What ends the block of code that is written."""
        self._block = ""
        """What was written last: `list`, `other`, or nothing."""

    def line(self, *parts: str | tuple[str, str], indent: int = 0) -> None:
        """A paragraph, or with `indent` an entry of a list; nothing without text."""
        pairs = [it if isinstance(it, tuple) else (it, "") for it in parts]
        text = "".join(_marked(it, hue) for it, hue in pairs).strip()
        if not text:
            return
        if not indent:
            self._begin("other")
            self._write(text)
            return
        self._begin("list")
        mark = "" if _NUMBERED.match(text) else "- "
        self._write(f"{' ' * (indent - _NESTING)}{mark}{text}")

    def heading(self, text: str) -> None:
        """A title."""
        self._begin("other")
        self._write(f"### {escaped(text)}")

    def table(
        self,
        title: str,
        heads: Row,
        rows: Sequence[Row],
        numbers: Iterable[int] = (),
        below: Mapping[int, str] | None = None,  # noqa: ARG002 - pages of Markdown have any width
    ) -> None:
        """A title and a table; nothing without rows. Columns without text are omitted."""
        if not rows:
            return
        self.heading(title)
        used = [i for i in range(len(heads)) if any(row[i] for row in rows)]
        right = frozenset(numbers)
        self._begin("other")
        self._write("| " + " | ".join(escaped(_title(heads[i])) for i in used) + " |")
        self._write("|" + "".join("---:|" if i in right else "---|" for i in used))
        for row in rows:
            self._write("| " + " | ".join(escaped(row[i]) for i in used) + " |")

    def code(self, text: str, language: str) -> None:
        """A block of code, such as a file or a diff."""
        fence = max(("```", *(f"{it}`" for it in _FENCE.findall(text))), key=len)
        self._begin("other")
        self._write(f"{fence}{language}")
        self._fence = f"{fence}\n"
        for it in text.splitlines():
            self._write(printable(it.replace("\t", "    ")))
        self._fence = ""
        self._write(fence)

    def _begin(self, block: str) -> None:
        """An empty line before everything except the next entry of a list."""
        if self._block and not self._block == block == "list":
            self._write("")
        self._block = block

    def _write(self, text: str) -> None:
        if self._room < 0:
            return
        self._room -= len(text) + 1
        super()._write(f"{self._fence}\n{_CUT}" if self._room < 0 else text)


def _title(head: str) -> str:
    """The title of a column, which a terminal shows in capitals."""
    return _ACRONYM.sub(lambda it: it[0].upper(), head.capitalize())


def _marked(text: str, hue: str) -> str:
    """Escaped text, which is strong if a terminal shows it in bold or yellow."""
    shown, strong = escaped(text), text.strip()
    if hue not in _STRONG or not strong:
        return shown
    begin, _, end = shown.partition(escaped(strong))
    return f"{begin}**{escaped(strong)}**{end}"
