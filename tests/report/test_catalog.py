"""Every format reports all findings, and input cannot break out of its place in the output."""

import importlib
import json
import pkgutil

import pytest
from msgspec.structs import replace

from policygen import report as reports
from policygen.core.finding import Finding, Place, Related
from policygen.core.rule import Severity
from policygen.report.catalog import COUNTING, FORMATS
from policygen.report.report import Report
from tests.report.reports import NASTY, report, written
from tests.rules import rule

OF_OTHER_COMMANDS = {
    *("simulation_changes", "simulation", "simulation_csv", "simulation_json"),
    *("show", "mermaid", "svg"),
}
"""Modules that write the reports of `policygen simulate` and `policygen show`."""


def test_every_module_that_writes_a_report_is_listed():
    modules = {it.name for it in pkgutil.iter_modules(reports.__path__)}
    formats = {
        name
        for name in modules
        if hasattr(importlib.import_module(f"policygen.report.{name}"), "write")
    }
    assert formats - OF_OTHER_COMMANDS == set(FORMATS), (
        "list the module in FORMATS of policygen/report/catalog.py"
    )


def test_every_format_that_shows_counts_is_listed():
    """lint plans the fixes only for these formats."""
    modules = {name: importlib.import_module(f"policygen.report.{name}") for name in FORMATS}
    assert {name for name, module in modules.items() if hasattr(module, "checked")} == COUNTING


@pytest.mark.parametrize("name", ["text", "markdown", "html"])
def test_what_people_read_is_bounded_and_counts_truly(name):
    line = "x" * 10**6
    place = Place("a.yaml", 1, 1, 10**6, line)
    findings = tuple(
        Finding(rule(f"rule-{number % 3}", Severity.ERROR), line, place, object=line)
        for number in range(999)
    )
    out = written(name, Report(findings=findings))
    assert len(out) < (65_536 if name == "markdown" else 2_000_000)
    assert "999 errors" in out
    if name == "markdown":
        rows = out.count("| rule\\-")
        assert f"{999 - rows} more findings; -f json lists all of them" in out
    elif name == "html":
        assert out.count("233 more findings of ") == 3
    else:
        assert out.count("and 330 more [rule-") == 3


def test_a_finding_on_a_cluster_has_the_line_of_its_spec():
    """Code hosts show findings at files of the repository; a file in a ConfigMap is not one of these."""
    spec = Related("ClusterPool a100", Place("spec.yaml", 7, 3, 4))
    inside = Place("ConfigMap kueue-system/kueue-manager-config: config.yaml", 2, 1)
    drift = Finding(
        rule("drift", Severity.ERROR), "m", inside, "ConfigMap a/b", related=(spec,), cluster="east"
    )
    it = replace(report(), findings=(drift, drift._replace(related=())))
    near, far = written("github", it).splitlines()
    assert near.startswith("::error title=drift,file=spec.yaml,line=7,col=3,endColumn=7::east: ")
    assert far.startswith("::error title=drift::east: ")
    told, untold = json.loads(written("gitlab", it))
    assert told["location"] == {"path": "spec.yaml", "lines": {"begin": 7}}
    assert told["description"].startswith("east: ")
    assert untold["location"]["path"].startswith("east: ")
    results = json.loads(written("sarif", it))["runs"][0]["results"]
    (location,) = results[0]["locations"]
    assert location["physicalLocation"]["artifactLocation"]["uri"] == "spec.yaml"
    assert "physicalLocation" not in results[1]["locations"][0]


@pytest.mark.parametrize("name", FORMATS)
def test_no_format_lets_control_characters_out(name):
    out = written(name, report(NASTY))
    assert not set(out) & set("\x1b\x00\x07\u202e\r\t\ud800")
