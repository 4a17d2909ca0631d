"""An XML parser reads the JUnit report."""

import junitparser
import pytest

from tests.report.reports import NASTY, report, written


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
