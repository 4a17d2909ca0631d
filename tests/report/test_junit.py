"""An XML parser reads the JUnit report."""

import junitparser
import pytest
from msgspec.structs import replace

from policygen.core.rule import Severity
from tests.report.reports import NASTY, report, written


@pytest.mark.parametrize(
    ("fail_on", "failed"),
    [
        (Severity.ERROR, ["first-rule"]),
        (Severity.WARNING, ["first-rule"]),
        (Severity.INFO, ["first-rule", "note"]),
    ],
)
def test_a_case_fails_if_a_finding_makes_the_run_fail(fail_on, failed):
    text = written("junit", replace(report("a"), fail_on=fail_on))
    (suite,) = junitparser.JUnitXml.fromstring(text.encode())
    results = {case.name: {type(it).__name__ for it in case.result} for case in suite}
    assert [name for name, found in results.items() if "Failure" in found] == failed


@pytest.mark.parametrize("text", ["queue a", NASTY])
def test_junit_is_read_by_a_parser(text):
    (suite,) = junitparser.JUnitXml.fromstring(
        written("junit", report(text)).encode("utf-8", "replace")
    )
    cases = {case.name: case for case in suite}
    assert list(cases) == [
        "first-rule",
        "second-rule",
        "third-rule",
        "fourth-rule",
        "fifth-rule",
        "note",
    ]
    assert (suite.tests, suite.failures, suite.errors, suite.skipped) == (6, 1, 1, 2)
    (failure,) = cases["first-rule"].result
    assert failure.text.startswith(f"{text[:1]}")
    assert "wrong" in failure.message
    assert "no place" in cases["note"].system_out
