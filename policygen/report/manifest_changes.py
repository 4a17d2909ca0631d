"""Writes what a command changes in manifests and what it leaves to do, as Markdown or JSON."""

from collections.abc import Sequence
from typing import TextIO

from policygen.report.json import data
from policygen.report.markdown import escaped, write_findings
from policygen.report.markdown_page import MarkdownPage
from policygen.report.phrases import write_json
from policygen.report.report import Report
from policygen.report.text import summary


def markdown(report: Report, out: TextIO, *, command: str, diff: str, lines: Sequence[str]) -> None:
    """Write the findings that a person must fix, and the diff. `lines` are the summary."""
    about = escaped("; ".join(it.removeprefix("policygen: ") for it in lines))
    title = f"policygen {command}: {summary(report.findings)}"
    room = write_findings(title, about, report.findings, out)
    if diff:
        out.write("\n")
        page = MarkdownPage(out, room)
        page.heading("Diff")
        page.code(diff, "diff")


def json(report: Report, out: TextIO, *, diff: str) -> None:
    """Write one JSON object and a newline, as schemas/report.schema.json describes it."""
    write_json({**data(report), "diff": diff}, out)
