"""Objects of OpenReports have a result for each finding, in the report of its namespace."""

import json
from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from policygen.core.finding import Finding, Place
from policygen.core.rule import Severity
from policygen.report.openreports import MAX_RESULTS
from tests.report.reports import NASTY, report, written
from tests.rules import rule

ERROR = Finding(
    rule("a", Severity.ERROR),
    "wrong",
    Place("a.yaml", 3, 5),
    object="LocalQueue vision/a100",
    path="spec.clusterQueue",
    command="kubectl patch",
)


def items(it):
    data = json.loads(written("openreports", it))
    assert (data["apiVersion"], data["kind"]) == ("v1", "List")
    return {each["metadata"].get("namespace", ""): each for each in data["items"]}


def test_a_finding_is_in_the_report_of_its_namespace():
    findings = (ERROR, ERROR._replace(object="ClusterQueue a", cluster="east", place=None))
    began = datetime(2026, 11, 21, 3, tzinfo=UTC)
    found = items(replace(report(), findings=findings, began=began))
    assert found.keys() == {"", "vision"}
    of_team, of_cluster = found["vision"], found[""]
    assert (of_team["kind"], of_cluster["kind"]) == ("Report", "ClusterReport")
    assert of_team["summary"] == {"error": 0, "fail": 1, "warn": 0, "skip": 0, "pass": 0}
    assert of_team["results"] == [
        {
            "policy": "a",
            "category": ERROR.rule.family.value,
            "severity": "high",
            "result": "fail",
            "message": "wrong",
            "resources": [
                {
                    "kind": "LocalQueue",
                    "namespace": "vision",
                    "name": "a100",
                    "fieldPath": "spec.clusterQueue",
                }
            ],
            "properties": {"place": "a.yaml:3:5", "command": "kubectl patch"},
            "timestamp": {"seconds": 1795230000, "nanos": 0},
        }
    ]
    assert of_cluster["summary"] == {"error": 2, "fail": 1, "warn": 0, "skip": 2, "pass": 1}
    (failed,) = [it for it in of_cluster["results"] if it["result"] == "fail"]
    assert failed["resources"] == [
        {"kind": "ClusterQueue", "name": "a", "fieldPath": "spec.clusterQueue"}
    ]
    assert failed["properties"]["cluster"] == "east"


@pytest.mark.parametrize(
    "fail_on, results",
    [
        (Severity.ERROR, ["fail", "warn", "pass"]),
        (Severity.WARNING, ["fail", "fail", "pass"]),
        (Severity.INFO, ["fail", "fail", "fail"]),
    ],
)
def test_warnings_below_the_chosen_severity_warn_and_notes_pass(fail_on, results):
    findings = tuple(ERROR._replace(configured=it) for it in reversed(Severity))
    found = items(replace(report(), findings=findings, fail_on=fail_on))["vision"]
    assert [it["result"] for it in found["results"]] == results
    assert sorted(it["severity"] for it in found["results"]) == ["high", "info", "medium"]


def test_a_large_report_has_the_worst_results_and_counts_all():
    note = ERROR._replace(configured=Severity.INFO)
    found = items(replace(report(), findings=(*[note] * MAX_RESULTS, ERROR)))["vision"]
    assert found["summary"]["pass"] == MAX_RESULTS
    assert [it["result"] for it in found["results"]][:2] == ["fail", "pass"]
    assert len(found["results"]) == MAX_RESULTS
    assert found["configuration"] == {"limits": {"maxResults": MAX_RESULTS}}


def test_notes_come_before_rules_without_findings():
    note = ERROR._replace(configured=Severity.INFO, object="")
    found = items(replace(report(), findings=(note,)))[""]
    passed = [it for it in found["results"] if it["result"] == "pass"]
    assert [it.get("severity") for it in passed] == ["info", None]
    assert found["summary"]["warn"] == 0


def test_an_impossible_namespace_is_in_the_cluster_report():
    found = items(replace(report(), findings=(ERROR._replace(object=f"LocalQueue {NASTY}/a"),)))
    assert found.keys() == {""}
