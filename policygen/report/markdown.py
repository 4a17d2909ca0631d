"""The report as Markdown, for a comment on a pull request."""

import re
from collections.abc import Sequence
from typing import TextIO

from policygen.core.finding import Finding
from policygen.core.quoting import counted
from policygen.core.rule import Severity
from policygen.report.phrases import bounded, cut, whereabouts
from policygen.report.report import Report
from policygen.report.text import checked, printable, summary

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~@:$&-]|(?<=www)\.)", re.IGNORECASE)
_COMMAND = re.compile(r"`((?:[a-z]+ |--)[^`\\|<>$]*)`")
"""A command or an option in back-ticks, as messages write it."""
MAX_CHARACTERS = 60_000
"""Length of the complete report; a GitHub comment has at most 65,536 characters."""


def write(report: Report, out: TextIO) -> None:
    """Write a summary and the findings."""
    title = f"policygen: {summary(report.findings)}"
    write_findings(title, checked(report), report.findings, out)


def write_findings(title: str, about: str, findings: Sequence[Finding], out: TextIO) -> int:
    """Write a title, a line and a table for each severity, with as many findings as fit in a comment.

    Returns how many of MAX_CHARACTERS characters are left.
    """
    out.write(f"## {title}\n\n{about}\n")
    shown, _ = bounded(findings)
    left, room = len(findings), MAX_CHARACTERS
    for severity in sorted(Severity, reverse=True):
        rows = []
        for row in (_row(each) for each in shown if each.severity == severity):
            room -= len(row)
            if room < 0:
                break
            rows.append(row)
        if rows:
            out.write(f"\n### {severity.name.title()}\n\n| Where | What | Rule |\n|---|---|---|\n")
            out.writelines(rows)
            left -= len(rows)
    if left:
        out.write(f"\n{counted(left, 'more finding')}; -f json lists all of them\n")
    return max(room, 0)


def _row(finding: Finding) -> str:
    cells = (whereabouts(finding) or finding.object, finding.message, finding.rule.name)
    return f"| {' | '.join(escaped(cut(cell)) for cell in cells)} |\n"


def escaped(text: str) -> str:
    """Text for the cell of a table, with markup, mentions, links and control characters escaped.

    A command in back-ticks becomes code.
    """
    parts = _COMMAND.split(printable(text))
    return "".join(
        f"`{part}`" if number % 2 else _SPECIAL.sub(r"\\\1", part)
        for number, part in enumerate(parts)
    )
