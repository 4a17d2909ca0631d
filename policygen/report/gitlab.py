"""The report for GitLab's code quality widget.

Source: docs.gitlab.com, "Code Quality: report format".
"""

from typing import Any, TextIO

from policygen.core.finding import Finding
from policygen.core.fingerprint import fingerprints
from policygen.core.rule import Severity
from policygen.report.phrases import behind, placed_message, whereabouts, write_json
from policygen.report.report import Report

_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}


def write(report: Report, out: TextIO) -> None:
    """Write one JSON list and a newline."""
    data = [
        {
            "description": f"{placed_message(finding)} [{finding.rule}]",
            "check_name": finding.rule.name,
            "fingerprint": fingerprint,
            "severity": _SEVERITIES[finding.severity],
            "location": _location(finding),
        }
        for finding, fingerprint in zip(report.findings, fingerprints(report.findings), strict=True)
    ]
    write_json(data, out)


def _location(finding: Finding) -> dict[str, Any]:
    """The location of a finding; GitLab requires a path."""
    place = behind(finding)
    path = place.file if place else whereabouts(finding) or finding.object or "."
    return {"path": path, "lines": {"begin": place.line or 1 if place else 1}}
