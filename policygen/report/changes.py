"""Writes what changed between two snapshots of a cluster, as text, Markdown or JSON."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, TextIO

from policygen.core.finding import Finding
from policygen.core.quoting import counted, listed
from policygen.drift.changes import Change, What
from policygen.drift.incomparable import Incomparable
from policygen.kubernetes.snapshot import Seen
from policygen.report.markdown_page import MarkdownPage
from policygen.report.phrases import headline, whereabouts, write_json
from policygen.report.text import printable

VERSION = 1
MAX_NAMES = 12
"""Names per reason in the list of what cannot be compared, in text."""

_INDENT = 2
_MARKS = {What.ADDED: "+", What.REMOVED: "-", What.CHANGED: "~"}


def text(
    snapshots: Sequence[Seen],
    changes: Iterable[Change],
    findings: tuple[Sequence[Finding], Sequence[Finding]],
    incomparable: Sequence[Incomparable],
    out: TextIO,
) -> None:
    """Write one line for each change, new finding, gone finding and incomparable kind or rule."""
    lines = [" -> ".join(f"{it.context} {_time(it.taken)}" for it in snapshots)]
    changed = [
        f"{_MARKS[change.what]} {change.object}{f': {change.path}' if change.path else ''}: {change.message}"
        for change in changes
    ]
    lines += changed
    new, gone = findings
    lines += [f"new: {headline(it)}" for it in new]
    lines += [f"gone: {headline(it)}" for it in gone]
    lines += _together(incomparable)
    lines.append(_counts(len(changed), findings, incomparable))
    out.writelines(f"{printable(line, out.encoding or 'utf-8')}\n" for line in lines)


def markdown(
    snapshots: Sequence[Seen],
    changes: Iterable[Change],
    findings: tuple[Sequence[Finding], Sequence[Finding]],
    incomparable: Sequence[Incomparable],
    out: TextIO,
) -> None:
    """Write the same as tables of Markdown."""
    page = MarkdownPage(out)
    page.line(" → ".join(f"{it.context} {_time(it.taken)}" for it in snapshots))
    rows = [(it.what.value, str(it.object), it.path, it.message) for it in changes]
    page.line(_counts(len(rows), findings, incomparable))  # first, since a long page is cut
    page.table("Changes", ("CHANGE", "OBJECT", "FIELD", "VALUE"), rows)
    for title, group in zip(("New findings", "Findings that are gone"), findings, strict=True):
        heads = ("WHERE", "SEVERITY", "WHAT", "RULE")
        cells = [(whereabouts(it), str(it.severity), it.message, it.rule.name) for it in group]
        page.table(title, heads, cells)
    for line in _together(incomparable):
        page.line(line, indent=_INDENT)


def _counts(
    changed: int,
    findings: tuple[Sequence[Finding], Sequence[Finding]],
    incomparable: Sequence[Incomparable],
) -> str:
    """The numbers of everything that is written above."""
    new, gone = map(len, findings)
    return (
        f"{counted(changed, 'change')}; findings: {new} new, {gone} gone; "
        f"{len(incomparable)} not comparable"
    )


def _together(incomparable: Iterable[Incomparable]) -> Iterator[str]:
    """One line for each reason, with all its names. JSON has one entry per name instead."""
    by_reason: dict[str, list[Incomparable]] = {}
    for entry in incomparable:
        by_reason.setdefault(entry.reason, []).append(entry)
    for reason, several in by_reason.items():
        names = [it.name for it in several[:MAX_NAMES]]
        names += [f"{len(several) - MAX_NAMES} more"] if len(several) > MAX_NAMES else []
        first = several[0]
        whose = "" if all(it.detail == first.detail for it in several) else f"{first.name}: "
        detail = f" ({whose}{first.detail})" if first.detail else ""
        yield f"not comparable, {reason}: {listed(names, 'and')}{detail}"


def json(
    snapshots: Sequence[Seen],
    changes: Iterable[Change],
    findings: tuple[Sequence[Finding], Sequence[Finding]],
    incomparable: Iterable[Incomparable],
    out: TextIO,
) -> None:
    """Write one JSON object and a newline, as schemas/diff.schema.json describes it."""
    new, gone = findings
    write_json(
        {
            "version": VERSION,
            "looks": [{"cluster": it.context, "taken": _time(it.taken)} for it in snapshots],
            "changes": [
                {
                    "what": change.what.value,
                    "object": str(change.object),
                    "path": change.path or None,
                    "message": change.message,
                }
                for change in changes
            ],
            "findings": {
                "new": [_finding(it) for it in new],
                "gone": [_finding(it) for it in gone],
            },
            "notComparable": [str(it) for it in incomparable],
        },
        out,
    )


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule.name,
        "severity": str(finding.severity),
        "message": finding.message,
        "object": finding.object or None,
        "path": finding.path or None,
    }


def _time(time: datetime) -> str:
    return time.isoformat(timespec="seconds").replace("+00:00", "Z")
