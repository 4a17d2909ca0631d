"""When a case passes, and how people and CI systems see its result."""

import io
import json

import junitparser

from policygen.testing import outcome
from tests.testing.outcomes import BAD, CRASHED, GOOD, ONE, OTHER


def written(write, *outcomes):
    out = io.StringIO()
    write(outcomes, out)
    return out.getvalue()


def test_a_line_for_each_case_and_its_differences():
    assert written(outcome.text, GOOD, BAD, CRASHED).splitlines() == [
        "ok    good  1 finding",
        "FAIL  bad\\x1b  2 findings",
        f"      missing     {ONE}",
        f"      unexpected  {OTHER}",
        f"      moved       {ONE}",
        f"               to {OTHER}",
        "FAIL  crashed  0 findings",
        "      rule rule-b has a bug; please report it",
        "3 cases, 2 failed",
    ]
    assert written(outcome.text, GOOD).endswith("1 case, 0 failed\n")


def test_json_and_markdown_have_each_difference():
    found = json.loads(written(outcome.json, GOOD, BAD, CRASHED))
    good, bad, crashed = found["cases"]
    assert (found["version"], found["failed"]) == (1, 2)
    assert (good["passed"], good["found"], good["missing"]) == (True, [str(ONE)], [])
    assert (bad["passed"], bad["missing"], bad["unexpected"]) == (False, [str(ONE)], [str(OTHER)])
    assert bad["moved"] == [{"from": str(ONE), "to": str(OTHER)}]
    assert (crashed["passed"], crashed["crashed"]) == (False, ["rule-b"])
    page = written(outcome.markdown, GOOD, BAD, CRASHED)
    assert page.startswith("### policygen test\\: 3 cases, 2 failed\n")
    assert "| good | passed | 1 |" in page
    assert f"missing     {ONE}\nunexpected  {OTHER}\n" in page
    assert "\x1b" not in page


def test_junit_distinguishes_failures_from_bugs():
    (suite,) = junitparser.JUnitXml.fromstring(written(outcome.junit, GOOD, BAD, CRASHED).encode())
    assert (suite.tests, suite.failures, suite.errors) == (3, 1, 1)
    _, bad, _ = suite
    (failure,) = bad.result
    assert failure.message == f"missing     {ONE}"
    assert failure.text.count("\n") == 3


def test_a_difference_or_a_crash_fails_a_case():
    assert [it.passed for it in (GOOD, BAD, CRASHED)] == [True, False, False]
    assert outcome.failed([GOOD, BAD, CRASHED]) == 2
    assert outcome.failed([]) == 0
