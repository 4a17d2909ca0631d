"""Reads and writes the expected findings of a case, and compares them with the actual findings.

A line of `findings.txt` is `FILE:LINE: SEVERITY: RULE: OBJECT FIELD`, without the parts that a
finding does not have. It does not contain the message, since messages can be reworded. Lines that
begin with # are comments.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from policygen.core.finding import Finding, Place
from policygen.core.rule import Severity
from policygen.documents.files import Source
from policygen.lint import registry
from policygen.lint.run_rules import BAD_EXPECTATION, UNKNOWN_RULE
from policygen.report.text import printable

_LINE = re.compile(
    r"(?:(?P<file>.+?)(?::(?P<number>[1-9][0-9]*))?: )?"
    rf"(?P<severity>{'|'.join(map(str, Severity))}): "
    r"(?P<rule>[a-z0-9]+(?:-[a-z0-9]+)*)(?:: (?P<about>.+))?"
)
FORM = "FILE:LINE: SEVERITY: RULE: OBJECT FIELD"


class Expected(Struct, frozen=True, order=True):
    """One finding in the form of `findings.txt`."""

    file: str
    """Path below the folder of the case; empty for a finding without a place."""
    line: int
    """0 for the complete file."""
    severity: Severity
    rule: str
    about: str
    """Object and field."""

    def __str__(self) -> str:
        number = f":{self.line}" if self.line else ""
        where = f"{self.file}{number}: " if self.file else ""
        about = f": {self.about}" if self.about else ""
        return f"{where}{self.severity}: {self.rule}{about}"

    @property
    def subject(self) -> tuple[str, str]:
        """The parts that identify the finding if it moved or has another severity."""
        return self.rule, self.about


class SheetEntry(Struct, frozen=True):
    """An expected finding with the comment above it."""

    expected: Expected
    comment: tuple[str, ...] = ()


class Sheet(Struct, frozen=True):
    """A `findings.txt`."""

    head: tuple[str, ...] = ()
    """The comment above the first empty line."""
    entries: tuple[SheetEntry, ...] = ()
    tail: tuple[str, ...] = ()
    """The comment below the last finding."""


class CaseDifference(Struct, frozen=True):
    """The differences between expected and actual findings."""

    missing: tuple[Expected, ...] = ()
    """Expected, but not found."""
    unexpected: tuple[Expected, ...] = ()
    """Found, but not expected."""
    moved: tuple[tuple[Expected, Expected], ...] = ()
    """Expected and found, at another line or with another severity."""

    def __bool__(self) -> bool:
        return bool(self.missing or self.unexpected or self.moved)


def expectation(finding: Finding, folder: str) -> Expected:
    """A finding in the form of `findings.txt`, with paths relative to the folder of the case."""
    place = finding.place or Place("")
    about = " ".join(part for part in (finding.object, finding.anchor or finding.path) if part)
    file = place.file.removeprefix(f"{folder.rstrip('/')}/")
    return Expected(
        printable(file), place.line, finding.severity, finding.rule.name, printable(about).strip()
    )


def read(source: Source, known: Collection[str]) -> tuple[Sheet, list[Finding]]:
    """The expected findings, and a fault for each invalid line."""
    head: tuple[str, ...] = ()
    entries: list[SheetEntry] = []
    comment: list[str] = []
    faults = []
    for number, text in enumerate(source.text.split("\n"), start=1):
        line = text.strip()
        if line.startswith("#"):
            comment.append(line)
        elif not line:
            if not entries and not head:
                head, comment = tuple(comment), []
        elif (match := _LINE.fullmatch(line)) is None:
            begin = len(text) - len(text.lstrip()) + 1
            place = Place(source.name, number, begin, len(line), text)
            message = (
                f"this line does not have the form of a finding; write {FORM}, or create the file "
                "with --update"
            )
            faults.append(Finding(BAD_EXPECTATION, message, place))
        elif (rule := registry.current_name(match["rule"])) not in known:
            begin = len(text) - len(text.lstrip()) + match.start("rule") + 1
            place = Place(source.name, number, begin, len(match["rule"]), text)
            faults.append(Finding(UNKNOWN_RULE, registry.unknown(match["rule"], known), place))
        else:
            finding = Expected(
                match["file"] or "",
                int(match["number"] or 0),
                Severity[match["severity"].upper()],
                rule,
                match["about"] or "",
            )
            entries.append(SheetEntry(finding, tuple(comment)))
            comment = []
    return Sheet(head, tuple(entries), tuple(comment)), faults


def text(sheet: Sheet) -> str:
    """The lines of a file."""
    lines = [*sheet.head, *([""] if sheet.head else [])]
    for entry in sheet.entries:
        lines += [*entry.comment, str(entry.expected)]
    return "".join(f"{line}\n" for line in (*lines, *sheet.tail))


def compare(expected: Iterable[Expected], found: Iterable[Expected]) -> CaseDifference:
    """The missing, unexpected and moved findings. Equal findings are counted."""
    # Compared as lines: a name that looks like part of a line cannot split one finding into two.
    here, there = list(expected), list(found)
    both = Counter(map(str, here)) & Counter(map(str, there))
    missing, unexpected = _without(here, both), _without(there, both)
    moved = []
    for line in list(missing):
        now = next((it for it in unexpected if it.subject == line.subject), None)
        if now is not None:
            moved.append((line, now))
            missing.remove(line)
            unexpected.remove(now)
    return CaseDifference(tuple(missing), tuple(unexpected), tuple(moved))


def _without(lines: Iterable[Expected], taken: Counter[str]) -> list[Expected]:
    left, rest = Counter(taken), []
    for line in lines:
        if left[str(line)]:
            left[str(line)] -= 1
        else:
            rest.append(line)
    return rest


def updated(sheet: Sheet, found: Sequence[Expected]) -> Sheet:
    """A sheet with the actual findings; comments stay with their finding."""
    old = list(sheet.entries)
    return replace(sheet, entries=tuple(_with_comments(old, found)))


def _with_comments(old: list[SheetEntry], found: Iterable[Expected]) -> Iterator[SheetEntry]:
    for finding in found:
        entry = next((each for each in old if each.expected == finding), None) or next(
            (each for each in old if each.expected.subject == finding.subject), None
        )
        if entry is not None:
            old.remove(entry)
        yield SheetEntry(finding, entry.comment if entry else ())
