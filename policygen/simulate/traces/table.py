"""Reads the rows of a CSV file, and collects all that is wrong with them."""

import csv
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

from msgspec import Struct

from policygen.core import durations
from policygen.core.errors import InvalidInputError
from policygen.core.quoting import counted, quoted
from policygen.core.suggest import suggest
from policygen.simulate.arrival import MOST_PODS

SHOWN = 3
"""The most equal faults that are shown; the others are counted."""
_DELIMITERS = ",;\t"
_TIME = "2026-01-31T09:30:00Z"
_MOST_DIGITS = 18
"""Longer numbers are no amounts, and Python does not parse them at any length."""


class TraceFault(Struct, frozen=True):
    """Something wrong in one cell of a trace, or in a row of it."""

    line: int
    column: int
    """The first character of the cell, counted from 1."""
    message: str


class TraceFaults:
    """The faults of a trace. Of equal ones it keeps only the first few, and counts the others."""

    def __init__(self, source: str) -> None:
        self.source = source
        """The name of the file."""
        self._found: dict[str, list[TraceFault]] = {}
        self._number: Counter[str] = Counter()

    def __len__(self) -> int:
        return self._number.total()

    def add(self, kind: str, fault: TraceFault) -> None:
        """Note a fault; faults of one kind are equal."""
        self._number[kind] += 1
        if self._number[kind] <= SHOWN:
            self._found.setdefault(kind, []).append(fault)

    def check(self) -> None:
        """Raises InvalidInputError if there are faults."""
        if self._number:
            faults = counted(f"{len(self):,}", "fault")
            raise InvalidInputError(
                f"{faults} in {self.source}; nothing was simulated", list(self._lines())
            )

    def _lines(self) -> Iterator[str]:
        shown = [(it, kind) for kind, each in self._found.items() for it in each]
        last = {kind: each[-1] for kind, each in self._found.items()}
        for it, kind in sorted(shown, key=lambda each: (each[0].line, each[0].column)):
            yield f"{self.source}:{it.line}:{it.column}: {it.message}"
            more = self._number[kind] - SHOWN
            if it is last[kind] and more > 0:
                yield f"{self.source}: {counted(f'{more:,}', 'more row')} with this fault"


class TraceTable:
    """A CSV file with a header. Cells are separated by commas, semicolons or tabs.

    Invalid rows are noted in `faults` and omitted. Values that cannot be read are noted, too, and
    replaced by a default, so that all faults of a row are found.
    """

    def __init__(self, lines: Iterable[str], faults: TraceFaults) -> None:
        self.faults = faults
        self.line = 0
        """Of the row that was read last."""
        self._text = ""
        self._lines = iter(lines)
        header = self._next()
        self._delimiter = max(_DELIMITERS, key=header.count)
        names = next(csv.reader([header], delimiter=self._delimiter), [])
        self.columns = [it.strip().lower().removeprefix("\ufeff") for it in names]
        self._index = {it: i for i, it in reversed(list(enumerate(self.columns)))}

    def has(self, column: str) -> bool:
        """Whether the header has a column."""
        return column in self._index

    def check(self, required: Sequence[str], known: Sequence[str] = ()) -> bool:
        """Note missing columns, and with `known` also others and repeated ones; false if there are any."""
        before = len(self.faults)
        missing = [it for it in required if it not in self._index]
        if not any(self.columns):
            self._note("empty", 1, f"the first line is empty; write {','.join(required)}")
        elif missing:
            words = f"the header has no {'column' if len(missing) == 1 else 'columns'}"
            example = ",".join(required)
            self._note("header", 1, f"{words} {', '.join(missing)}; write at least {example}")
        if known:
            for i, it in enumerate(self.columns):
                if it and it not in known:
                    advice = suggest(it, known, "column")
                    words = f"column {quoted(it)} is unknown; rename or remove it; {advice}"
                    self._note(f"unknown {it}", self._position(i), words)
                elif self.columns.index(it) < i:
                    words = f"column {it} is repeated; remove one"
                    self._note(f"twice {it}", self._position(i), words)
        return len(self.faults) == before

    def rows(self) -> Iterator[list[str]]:
        """The cells of each row, in the order of `columns`. Empty lines are skipped."""
        reader = csv.reader(self._rest(), delimiter=self._delimiter, strict=True)
        width = len(self.columns)
        while True:
            try:
                row = next(reader, None)
            except csv.Error as reason:
                self._note("csv", 1, f"the row is not valid CSV: {reason}")
                continue
            if row is None:
                return
            if len(row) == width:
                yield row
            elif row:
                words = f"the row has {counted(len(row), 'cell')}, but the header has {width}"
                self._note("width", 1, f"{words}; write one cell for each column")

    def positions(self, columns: Iterable[str]) -> dict[str, int]:
        """The index of each of these columns that the header has."""
        return {it: self._index[it] for it in columns if it in self._index}

    def cell(self, row: list[str], column: str) -> str:
        """A cell without spaces around it; empty without the column."""
        index = self._index.get(column)
        return "" if index is None else row[index].strip()

    def fault(self, column: str, words: str, remedy: str, value: str = "") -> None:
        """Note a fault of a cell of the row that was read last: `COLUMN "VALUE" WORDS; REMEDY`."""
        shown = f"{column} {quoted(value)} {words}" if value else f"{column} {words}"
        self.refuse(column, f"{column} {words}", f"{shown}; {remedy}")

    def refuse(self, column: str, kind: str, message: str) -> None:
        """Note a fault of a cell of the row that was read last, with this message."""
        self._note(kind, self._position(self._index.get(column, 0)), message)

    def duration(self, row: list[str], column: str, missing: float | None = None) -> float | None:
        """The seconds of a cell; `missing` if it is empty, or a fault without `missing`."""
        text = self.cell(row, column)
        if text:
            return self._seconds(text, column)
        if missing is None:
            self.fault(column, "is missing", durations.EXAMPLES)
        return missing

    def time(self, row: list[str], column: str) -> tuple[float, bool] | None:
        """Seconds, and whether the cell is a date with a time of day; None after a fault."""
        text = self.cell(row, column)
        if text[4:5] == "-":
            try:
                found = datetime.fromisoformat(text)
            except ValueError:
                self.fault(column, "is not a valid time", f"write {_TIME}", text)
                return None
            return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp(), True
        if not text:
            self.fault(column, "is missing", "write seconds from the start of the trace")
            return None
        at = self._seconds(text, column, is_time=True)
        return None if at is None else (at, False)

    def number(self, text: str, column: str, least: int = 0, default: int = 0) -> int:
        """The whole number of a cell; `default` if it is empty."""
        if not text:
            return default
        whole = text.removesuffix(".0")
        is_number = whole.isascii() and whole.isdigit() and len(whole) <= _MOST_DIGITS
        if is_number and int(whole) >= least:
            return int(whole)
        if whole.isascii() and whole.isdigit() and len(whole) > _MOST_DIGITS:
            self.fault(column, "is too large", f"write at most {_MOST_DIGITS} digits", text)
        else:
            remedy = f"write a whole number that is at least {least}"
            self.fault(column, "is not valid", remedy, text)
        return default

    def size(self, text: str, column: str) -> int:
        """The pods of a job, or its GPUs, which can all be of one pod each; 1 if the cell is empty."""
        found = self.number(text, column, least=1, default=1)
        if found > MOST_PODS:
            self.fault(column, "is too large", f"write at most {MOST_PODS:,}", text)
            return 1
        return found

    def _seconds(self, text: str, column: str, *, is_time: bool = False) -> float | None:
        try:
            found = float(text.replace("_", "?"))
        except ValueError:
            parsed = durations.written(text)
            if parsed is None:
                kind, or_date = ("time", f", or {_TIME}") if is_time else ("duration", "")
                remedy = f"{durations.EXAMPLES}{or_date}"
                self.fault(column, f"is not a valid {kind}", remedy, text)
                return None
            found = float(parsed)
        if not math.isfinite(found):
            self.fault(column, "is not finite", durations.EXAMPLES, text)
            return None
        if found < 0:
            self.fault(column, "is negative", durations.EXAMPLES, text)
            return None
        if found > durations.MOST_S:
            self.fault(column, "is too large", durations.EXAMPLES, text)
            return None
        return found

    def _note(self, kind: str, column: int, message: str) -> None:
        self.faults.add(kind, TraceFault(max(self.line, 1), column, message))

    def _next(self) -> str:
        text = next(self._lines, "")
        self.line += 1
        self._text = text
        return text.rstrip("\r\n")

    def _rest(self) -> Iterator[str]:
        for text in self._lines:
            self.line += 1
            self._text = text
            yield text

    def _position(self, index: int) -> int:
        """The first character of a cell of the last line. A cell with line breaks ends in this line."""
        found = quotes = 0
        for i, letter in enumerate(self._text):
            if found == index:
                return i + 1
            quotes += letter == '"'
            found += letter == self._delimiter and quotes % 2 == 0
        return len(self._text) + 1 if found == index else 1
