"""The report as JUnit XML, for CI systems: one test case for each rule."""

from collections.abc import Iterable
from io import BytesIO
from typing import Any, TextIO

from policygen.core.finding import Finding, Verdict
from policygen.report.phrases import headline
from policygen.report.report import Report
from policygen.report.text import printable

_SKIPPED = {Verdict.VACUOUS, Verdict.NOT_EVALUATED}


def write(report: Report, out: TextIO) -> None:
    """Write one test suite. Rules that did not run have test cases too, if they have findings.

    A test case fails if one of its findings makes the run fail.
    """
    import junitparser  # noqa: PLC0415 - other formats do not pay for its import

    found: dict[str, list[Finding]] = {}
    for finding in report.findings:
        found.setdefault(finding.rule.name, []).append(finding)
    run = {each.rule: each for each in report.rules}
    cases = []
    for name in [*run, *sorted(found.keys() - run.keys())]:
        result = run.get(name)
        case: Any = junitparser.TestCase(printable(name), result.family if result else "spec")
        if result and result.verdict == Verdict.CRASHED:
            error = junitparser.Error("this rule has a bug")
            error.text = _lines([result.reason])
            case.append(error)
        elif result and result.verdict in _SKIPPED and name not in found:
            # If it is in `found`, a spec has the fault.
            case.append(junitparser.Skipped(printable(f"{result.verdict}: {result.reason}")))
        findings = found.get(name, [])
        lines = _lines(map(headline, findings))
        if any(finding.severity >= report.fail_on for finding in findings):
            failure = junitparser.Failure(printable(findings[0].message))
            failure.text = lines
            case.append(failure)
        elif findings:
            case.append(junitparser.SystemOut(lines))
        cases.append(case)
    write_suite("policygen", cases, out)


def write_suite(name: str, cases: Iterable[Any], out: TextIO) -> None:
    """Write test cases of junitparser as one suite, with their counts."""
    import junitparser  # noqa: PLC0415 - other formats do not pay for its import

    # Most methods of junitparser have no types.
    suite: Any = junitparser.TestSuite(name)
    suites: Any = junitparser.JUnitXml()
    for case in cases:
        suite.append(case)
    suites.append(suite)
    suite.update_statistics()
    suites.update_statistics()
    content = BytesIO()
    suites.write(content)
    out.write(f"{content.getvalue().decode()}\n")


def _lines(texts: Iterable[str]) -> str:
    """All lines of some texts, without the control characters that XML 1.0 does not allow."""
    return "\n".join(printable(line) for text in texts for line in text.splitlines())
