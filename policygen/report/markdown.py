"""The report as Markdown, for a comment on a change."""

import re
from typing import TextIO

from policygen.finding import Severity
from policygen.report.report import Report
from policygen.report.text import counted, printable, summary
from policygen.report.words import whereabouts

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~@:&-])")


def write(report: Report, out: TextIO) -> None:
    """Write a summary and a table of findings for each severity."""
    out.write(f"## policygen: {summary(report.findings)}\n\n{counted(report)}\n")
    for severity in sorted(Severity, reverse=True):
        findings = [each for each in report.findings if each.severity == severity]
        if not findings:
            continue
        out.write(f"\n### {severity.name.title()}\n\n| Where | What | Rule |\n|---|---|---|\n")
        out.writelines(
            f"| {escaped(whereabouts(finding) or finding.object)} "
            f"| {escaped(finding.message)} | {escaped(finding.rule)} |\n"
            for finding in findings
        )


def escaped(text: str) -> str:
    """Text that stays text in a table's cell: no markup, no mention, no control character."""
    return _SPECIAL.sub(r"\\\1", printable(text))
