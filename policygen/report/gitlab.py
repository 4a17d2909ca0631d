"""The report for GitLab's code quality widget.

Source: docs.gitlab.com, "Code Quality: report format".
"""

from typing import TextIO

from policygen.finding import Severity
from policygen.fingerprint import fingerprints
from policygen.report.report import Report
from policygen.report.words import whereabouts, write_json

_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}


def write(report: Report, out: TextIO) -> None:
    """Write one JSON list and a newline."""
    data = [
        {
            "description": f"{finding.message} [{finding.rule}]",
            "check_name": finding.rule,
            "fingerprint": fingerprint,
            "severity": _SEVERITIES[finding.severity],
            "location": {
                "path": finding.place.file
                if finding.place and not finding.cluster
                else whereabouts(finding) or finding.object or ".",
                "lines": {"begin": finding.place.line or 1 if finding.place else 1},
            },
        }
        for finding, fingerprint in zip(report.findings, fingerprints(report.findings), strict=True)
    ]
    write_json(data, out)
