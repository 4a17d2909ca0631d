"""Findings as text for people: one line each, and the line of the input."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, TextIO

from policygen.core.finding import Finding, Place, Verdict
from policygen.core.quoting import counted
from policygen.core.rule import Family, Severity
from policygen.plan.rules import PODS_MUST_CARRY
from policygen.report.phrases import (
    MAX_MESSAGE,
    MORE,
    More,
    behind,
    cut,
    grouped,
    where,
    whereabouts,
)
from policygen.report.report import UNREAD, Report, RuleResult

MAX_COLUMNS: Final = 100
"""Width of an excerpt; longer lines are cut around the place."""
_COUNTED: Final = {Verdict.PASS: "passed", Verdict.FAIL: "failed"}
"""The word for a verdict after a number, if it differs from the verdict's name."""

_NEXT_PLACES = 3
_LACKS = 5
"""Kinds of missing input that text shows."""
_NARROWEST = 20
"""An excerpt is not cut to fewer columns."""
_TAB_STOP = 8
_GUTTER = 5
_RESET = "\x1b[0m"
_BOLD = "\x1b[1m"
_DIM = "\x1b[2m"
_GREEN = "\x1b[32m"
_HUES = {
    Severity.ERROR: "\x1b[1;31m",
    Severity.WARNING: "\x1b[1;33m",
    Severity.INFO: "\x1b[1;34m",
}
_HUE = re.compile(r"\x1b\[[0-9;]*m")
_WORD = re.compile(r"( *)([^ ]+)")
_HANG = 2
_NAMED_ESCAPES = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}


def write_findings(
    findings: Iterable[Finding],
    out: TextIO,
    *,
    colour: bool,
    excerpt: bool = True,
    wide: int | None = None,
) -> None:
    """Write each finding as `file:line:column: severity: message [rule]`.

    With `excerpt`, the line of the input follows, with the place underlined. Only printable
    characters that `out` can encode are written, for any input. `wide` is that of `folded`.
    """
    page = _Page(out.encoding or "utf-8", colour=colour, wide=wide)
    for finding in findings:
        out.writelines(f"{line}\n" for line in folded(page.headline(finding), wide))
        if excerpt:
            out.writelines(line + "\n" for line in page.below(finding))


def write(report: Report, out: TextIO) -> None:
    """Write the findings of lint, without colours."""
    full(report, out, colour=False)


def full(  # noqa: PLR0913 - what is shown, and on which terminal
    report: Report,
    out: TextIO,
    *,
    colour: bool,
    quiet: bool = False,
    every: bool = False,
    wide: int | None = None,
) -> None:
    """Write the findings of lint, and one line with the number of objects and rules.

    Repeated findings of one rule are grouped: the first ones in full, then the number and the next
    places of the others. Notes about the spec follow, grouped as `validate` groups them. `every` writes
    all of them. `quiet` writes no notes; only about a spec alone, it writes all fields that pods need,
    because rules check the pods of manifests and clusters. The counts are always of all. `wide` is that
    of `folded`.
    """
    chosen = [
        finding
        for finding in report.findings
        if not (quiet and finding.severity == Severity.INFO)
        or (finding.rule is PODS_MUST_CARRY and not report.objects)
    ]
    page = _Page(out.encoding or "utf-8", colour=colour, wide=wide)

    def put(line: str) -> None:
        out.writelines(f"{it}\n" for it in folded(line, wide))

    of_spec = [] if every else [it for it in chosen if _is_note_of_spec(it)]
    others = [it for it in chosen if every or not _is_note_of_spec(it)]
    for shown in others if every else grouped(others, {PODS_MUST_CARRY} if quiet else ()):
        if isinstance(shown, More):
            put(page.more(shown))
        else:
            put(page.headline(shown))
            out.writelines(f"{line}\n" for line in page.below(shown))
    if of_spec:
        from policygen.report import notes  # noqa: PLC0415 - manifests alone do not load the plan

        for note in notes.grouped(of_spec):
            put(page.headline(note) if isinstance(note, Finding) else page.safe(note))
    for result in report.rules:
        if result.verdict == Verdict.CRASHED:
            lines = [printable(line) for line in result.reason.splitlines()]
            out.write(
                "\n".join([f"{result.rule}: this rule has a bug; please report it", *lines, ""])
            )
    if report.elsewhere:
        put(
            f"{counted(report.elsewhere, 'finding')} may be about objects that exist elsewhere; also "
            "pass the spec or the folder with these objects, or use --partial"
        )
    for line in unevaluated(report):
        put(page.safe(line))
    put(f"{summary(report.findings)}; {checked(report)}")


def _is_note_of_spec(finding: Finding) -> bool:
    is_note = finding.rule.family is Family.REPORTED and finding.severity == Severity.INFO
    return is_note and finding.rule is not PODS_MUST_CARRY


def unevaluated(report: Report) -> Iterator[str]:
    """How many rules were not evaluated and why: the input that most of them lack, then each field."""
    uncertain: dict[str, list[str]] = {}
    for it in report.rules:
        if it.partial and not it.too_large:
            uncertain.setdefault(it.reason, []).append(it.rule)
    skipped = [it for it in report.rules if it.verdict is Verdict.NOT_EVALUATED and not it.partial]
    if skipped:
        yield _lacking(report, skipped)
    for reason, rules in uncertain.items():
        names = ", ".join(rules[:_LACKS]) + (", ..." if rules[_LACKS:] else "")
        yield f"not evaluated completely: {counted(len(rules), 'rule')} ({names}), because {reason}"


def _lacking(report: Report, skipped: Sequence[RuleResult]) -> str:
    lacks = [it for it, _ in Counter(it for rule in skipped for it in rule.lacks).most_common()]
    why = report.incomplete or UNREAD
    if lacks:
        more = (
            "; and more" if len(lacks) > _LACKS or not all(rule.lacks for rule in skipped) else ""
        )
        why = f"the input lacks: {'; '.join(lacks[:_LACKS])}{more}"
    return (
        f"not evaluated: {counted(len(skipped), 'rule')} (-f json lists these rules), because {why}"
    )


def checked(report: Report) -> str:
    """How much was checked: `27 objects; 90 rules: 60 passed, 30 vacuous`."""
    words = []
    if report.rules:
        words.append(counted(report.objects, "object"))
        verdicts = [
            f"{count} {_COUNTED.get(verdict, verdict)}"
            for verdict in Verdict
            if (count := report.count(verdict)) or verdict == Verdict.PASS
        ]
        words.append(f"{counted(len(report.rules), 'rule')}: {', '.join(verdicts)}")
    if report.fixable:
        more = f", {report.fixable_unsafe} more with --unsafe" if report.fixable_unsafe else ""
        words.append(f"{report.fixable} fixable (--fix){more}")
    elif report.fixable_unsafe:
        words.append(f"{report.fixable_unsafe} fixable (--fix --unsafe)")
    if report.off:
        words.append(f"{counted(report.off, 'rule')} switched off")
    if report.waived:
        words.append(f"{report.waived} waived")
    if report.in_baseline:
        words.append(f"{report.in_baseline} in the baseline")
    if report.incomplete:
        words.append(report.incomplete)
    return "; ".join(words) or "no manifests"


def summary(findings: Iterable[Finding]) -> str:
    """The number of findings of each severity: `2 errors, 1 warning`."""
    severities = [finding.severity for finding in findings]
    parts = []
    for severity in sorted(Severity, reverse=True):
        count = severities.count(severity)
        if count:
            plural = str(severity) if severity == Severity.INFO else ""
            parts.append(counted(count, str(severity), plural))
    return ", ".join(parts) or "no findings"


def colours(out: TextIO | None, environ: Mapping[str, str]) -> bool:
    """Whether to use colour: never with NO_COLOR, else on a terminal or with FORCE_COLOR. None: it is closed."""
    if out is None or environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR", "0") not in {"", "0"}:
        return True
    return out.isatty() and environ.get("TERM") != "dumb"


def printable(text: str, encoding: str = "utf-8") -> str:
    """The text with visible escapes for characters that could control a terminal or mislead a reader.

    These are control characters, bidirectional overrides, zero-width and unusual blanks, lone
    surrogates, and characters that the encoding does not have.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(char, encoding) for char in text)


def _shown(char: str, encoding: str) -> str:
    if char == " ":
        return char
    if char.isprintable():
        try:
            char.encode(encoding)
        except UnicodeEncodeError:
            return char.encode("ascii", "backslashreplace").decode()
        return char
    if char in _NAMED_ESCAPES:
        return _NAMED_ESCAPES[char]
    code = ord(char)
    return (
        f"\\x{code:02x}"
        if code < 0x100
        else f"\\u{code:04x}"
        if code < 0x10000
        else f"\\U{code:08x}"
    )


def _blank(text: str) -> bool:
    return not text or text.isspace()


def width(shown: str) -> int:
    """The width of printable text on a terminal, in columns."""
    if shown.isascii():
        return len(shown)
    from wcwidth import wcwidth  # noqa: PLC0415 - ASCII does not pay for its import

    return sum(map(wcwidth, shown))


def folded(line: str, wide: int | None) -> Iterator[str]:
    """The lines of a printable text on a terminal of `wide` columns; None: lines may have any length.

    A text that is too wide is broken at blanks, and continues two columns further to the right than it
    begins. Words are never broken, so that paths and commands can be copied. Colours take no columns.
    """
    if wide is None or width(_HUE.sub("", line)) <= wide:
        yield line
        return
    used = min(len(line) - len(line.lstrip(" ")), wide // 2)
    hang, shown = " " * (used + _HANG), " " * used
    is_empty = True
    for gap, word in _WORD.findall(line.lstrip(" ")):
        size = width(_HUE.sub("", word))
        if not is_empty and used + len(gap) + size > wide:
            yield shown
            shown, used, is_empty = hang, len(hang), True
        space = "" if is_empty else gap
        shown += space + word
        used += len(space) + size
        is_empty = False
    yield shown


class _Page:
    def __init__(self, encoding: str, *, colour: bool, wide: int | None) -> None:
        self.encoding = encoding
        self.colour = colour
        # Excerpts are cut, because carets are below them.
        room = MAX_COLUMNS if wide is None else wide - _GUTTER - len(" | ")
        self.columns = max(min(room, MAX_COLUMNS), _NARROWEST)

    def paint(self, text: str, hue: str) -> str:
        """The text in a colour, if there are colours."""
        return f"{hue}{text}{_RESET}" if self.colour else text

    def safe(self, text: str) -> str:
        """A name or message, printable and at most MAX_MESSAGE characters long."""
        return printable(cut(text), self.encoding)

    def headline(self, finding: Finding) -> str:
        """The first line of the finding."""
        where = ""
        name = whereabouts(finding)
        if name:
            where = self.paint(f"{self.safe(name)}:", _BOLD) + " "
        severity = self.paint(f"{finding.severity}:", _HUES[finding.severity])
        rule = self.paint(f"[{self.safe(finding.rule.name)}]", _DIM)
        return f"{where}{severity} {self.safe(finding.message)} {rule}"

    def more(self, more: More) -> str:
        """The number of further findings of a rule, and the places of the next ones."""
        places = list(dict.fromkeys(whereabouts(it) for it in more.findings if whereabouts(it)))
        shown = ", ".join(self.safe(each) for each in places[:_NEXT_PLACES])
        where = f": {shown}{', ...' if len(places) > _NEXT_PLACES else ''}" if shown else ""
        rule = self.paint(f"[{self.safe(more.rule.name)}]", _DIM)
        return f"{' ' * _GUTTER} and {len(more.findings)} more {rule}{where} (--all shows them)"

    def below(self, finding: Finding) -> Iterator[str]:
        """The line of the input, or of the spec for an object on a cluster, and the fix command."""
        place = finding.place
        if place is None and finding.cluster:
            place = behind(finding)
            if place is not None:
                yield f"{' ' * _GUTTER} = {self.safe(where(place))}"
        if place is not None and place.line and not _blank(place.text):
            yield from self.excerpt(place)
        if finding.command:
            fits = len(finding.command) <= MAX_MESSAGE
            long = "= the command is too long to show; write it to a script with --patches DIR"
            shown = f"$ {finding.command}" if fits else long
            yield f"{' ' * _GUTTER} {printable(shown, self.encoding)}"

    def excerpt(self, place: Place) -> list[str]:
        """The line of the input, and a line of carets under the place."""
        number = f"{place.line:{_GUTTER}} | "
        begin = max(place.column - 1, 0)
        cells, first, marked = self.window(place.text, begin, begin + max(place.length, 1))
        shown = self.paint(number, _DIM) + "".join(cells).rstrip()
        if not place.column:
            return [shown]
        blank = self.paint(" " * (len(number) - 2) + "| ", _DIM)
        before = sum(width(cell) for cell in cells[:first])
        under = sum(width(cell) for cell in cells[first : first + marked])
        return [shown, f"{blank}{' ' * before}{self.paint('^' * max(under, 1), _GREEN)}"]

    def window(self, text: str, begin: int, end: int) -> tuple[list[str], int, int]:
        """The part of a line around text[begin:end] that fits, one cell per character.

        Also returns the index of the first cell of the place, and its number of cells.
        """
        # A character has at least one column, except combining marks, which may be lost.
        low, high = max(0, begin - self.columns), min(len(text), begin + self.columns)
        cells = self.cells(text[low:high])
        widths = [width(cell) for cell in cells]
        first = min(begin - low, len(cells))
        after = max(first, min(end - low, len(cells)))
        start, stop = 0, len(cells)
        fits = self.columns - 2 * len(MORE)
        if low or high < len(text) or sum(widths) > self.columns:
            # First the place and the text before it, then the text after it, if there is room.
            start, stop, room = first, first, fits
            lead = min(fits // 2, max(fits - sum(widths[first:after]), fits // 4))
            while start and widths[start - 1] <= min(lead, room):
                start -= 1
                lead, room = lead - widths[start], room - widths[start]
            while stop < len(cells) and widths[stop] <= room:
                room -= widths[stop]
                stop += 1
            while start and widths[start - 1] <= room:
                start -= 1
                room -= widths[start]
        left = [MORE] if low or start else []
        right = [MORE] if stop < len(cells) or high < len(text) else []
        marked = min(after, stop) - first
        return [*left, *cells[start:stop], *right], first - start + len(left), marked

    def cells(self, text: str) -> list[str]:
        """Each character as it is shown; a tab becomes blanks up to its tab stop."""
        cells = []
        column = 0
        for char in text:
            cell = printable(char, self.encoding)
            if char == "\t":
                cell = " " * (_TAB_STOP - column % _TAB_STOP)
            cells.append(cell)
            column += width(cell)
        return cells
