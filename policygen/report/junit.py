"""The report as JUnit XML, for CI systems: a test case for each rule."""

from typing import TextIO

from policygen.core.finding import Finding, Severity, Verdict
from policygen.report.phrases import headline
from policygen.report.report import Ended, Report
from policygen.report.text import printable


def write(report: Report, out: TextIO) -> None:
    """Write one test suite. Findings of no rule that was run are cases of their own."""
    found: dict[str, list[Finding]] = {}
    for finding in report.findings:
        found.setdefault(finding.rule, []).append(finding)
    run = {each.rule: each for each in report.rules}
    names = [*run, *sorted(found.keys() - run.keys())]
    failed = sum(1 for name in names if _fails(found.get(name, [])))
    errors = report.count(Verdict.CRASHED)
    skipped = sum(1 for name in names if _skipped(run.get(name)))
    out.write('<?xml version="1.0" encoding="UTF-8"?>\n')
    out.write(
        f'<testsuites><testsuite name="policygen" tests="{len(names)}" failures="{failed}" '
        f'errors="{errors}" skipped="{skipped}">\n'
    )
    for name in names:
        each = run.get(name)
        group = each.family if each else "spec"
        out.write(f"<testcase classname={_quoted(group)} name={_quoted(name)}>")
        if each and each.verdict == Verdict.CRASHED:
            out.write(f'<error message="this rule has a bug">{_text(each.reason)}</error>')
        elif _skipped(each) and each:
            out.write(f"<skipped message={_quoted(f'{each.verdict}: {each.reason}')}/>")
        findings = found.get(name, [])
        lines = "\n".join(map(headline, findings))
        if _fails(findings):
            first = findings[0].message
            out.write(f"<failure message={_quoted(first)}>{_text(lines)}</failure>")
        elif lines:
            out.write(f"<system-out>{_text(lines)}</system-out>")
        out.write("</testcase>\n")
    out.write("</testsuite></testsuites>\n")


def _fails(findings: list[Finding]) -> bool:
    return any(finding.severity > Severity.INFO for finding in findings)


def _skipped(each: Ended | None) -> bool:
    return each is not None and each.verdict in {Verdict.VACUOUS, Verdict.NOT_EVALUATED}


def _text(text: str) -> str:
    """What may stand between tags: XML 1.0 allows no control characters, not even escaped."""
    from xml.sax.saxutils import escape  # noqa: PLC0415 - it imports clients of the network

    return escape("\n".join(map(printable, text.splitlines())))


def _quoted(text: str) -> str:
    from xml.sax.saxutils import quoteattr  # noqa: PLC0415 - likewise

    return quoteattr(printable(text))
