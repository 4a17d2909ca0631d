"""The report as workflow commands, which GitHub Actions shows next to the lines.

Source: docs.github.com, "Workflow commands for GitHub Actions"; actions/toolkit,
packages/core/src/command.ts for what is escaped.
"""

from typing import TextIO

from policygen.core.rule import Severity
from policygen.report.phrases import behind, placed_message
from policygen.report.report import Report
from policygen.report.text import printable

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def write(report: Report, out: TextIO) -> None:
    """Write one command for each finding."""
    for finding in report.findings:
        properties = {"title": finding.rule.name}
        place = behind(finding)
        if place is not None:
            properties["file"] = place.file
            if place.line:
                properties["line"] = str(place.line)
            if place.column:
                properties["col"] = str(place.column)
                properties["endColumn"] = str(place.column + max(place.length, 1))
        written = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
        out.write(f"::{_COMMANDS[finding.severity]} {written}::{_data(placed_message(finding))}\n")


def _data(text: str) -> str:
    return printable(text).replace("%", "%25")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
