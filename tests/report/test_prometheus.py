"""Prometheus' own parser reads the metrics."""

from datetime import UTC, datetime

import pytest
from msgspec.structs import replace
from prometheus_client.parser import text_string_to_metric_families

from policygen.core.finding import Finding, Verdict
from policygen.core.rule import Family, Severity
from policygen.report.report import RuleResult
from policygen.report.text import printable
from tests.report.reports import NASTY, report, written
from tests.rules import rule


@pytest.mark.parametrize("text", ["queue a", NASTY])
def test_prometheus_is_read_by_its_own_parser(text):
    it = report(text)
    drift = Finding(rule("drift", Severity.ERROR, Family.DRIFT), "m", cluster=text)
    it = replace(
        it,
        findings=(*it.findings, drift, drift),
        rules=(*it.rules, RuleResult("drift", Severity.ERROR, Family.DRIFT, Verdict.FAIL, "")),
        compared=(text, "west"),
        began=datetime(2026, 11, 21, 3, tzinfo=UTC),
        seconds=1.25,
    )
    families = text_string_to_metric_families(written("prometheus", it))
    found = {
        (sample.name, *sample.labels.values()): sample.value
        for family in families
        for sample in family.samples
    }
    name = printable(text)
    assert found["policygen_findings", name, "drift", "error"] == 2
    assert found["policygen_findings", "", "first-rule", "warning"] == 1
    assert (found["policygen_drifted", name], found["policygen_drifted", "west"]) == (2, 0)
    assert found["policygen_rules", "not evaluated"] == 1
    assert found[("policygen_complete",)] == 0
    assert found[("policygen_run_duration_seconds",)] == 1.25
    assert found[("policygen_run_timestamp_seconds",)] == 1795230000
