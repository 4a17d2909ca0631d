"""The counts of a report."""

from policygen.core.finding import Verdict
from policygen.core.rule import Severity
from tests.report.reports import report


def test_rules_by_their_verdict_and_findings_by_their_severity():
    it = report()
    assert [it.count(verdict) for verdict in Verdict] == [1, 1, 1, 1, 1]
    assert [it.of(severity) for severity in Severity] == [1, 1, 1]
