"""Every format says all that was found, and nothing from the input gets out of its place."""

import io
import json
import re
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import junitparser
import pytest
from jsonschema import Draft202012Validator
from markdown_it import MarkdownIt
from msgspec.structs import replace
from prometheus_client.parser import text_string_to_metric_families
from sarif_pydantic import Sarif

from policygen.core.finding import Finding, Place, Related, Verdict
from policygen.core.fingerprint import fingerprints
from policygen.core.rule import Family, Severity
from policygen.report.catalog import FORMATS, writer
from policygen.report.report import Report, RuleResult
from policygen.report.text import printable
from tests.rules import rule

ROOT = Path(__file__).parents[2]

NASTY = (
    "a\x1b[31m\x00\x07<script>alert(1)</script>&amp;]]>\n::error::b%0A,c:d|e`f`*g*[h](i)\r\t"
    "\ud800\u202e\U0001f600'\"<!-- @someone #1 --> www.example.com $x$"
)


def ended(rule, verdict, reason=""):
    return RuleResult(
        rule, Severity.ERROR, Family.INVALID, Verdict(verdict), f"About {rule}", reason
    )


def report(text="queue a"):
    place = Place(f"{text}.yaml", 3, 5, 4, f"    {text} and more")
    return Report(
        findings=(
            Finding(rule("note", Severity.INFO), f"no place: {text}"),
            Finding(
                rule("first-rule", Severity.ERROR),
                f"wrong: {text}",
                place,
                object=f"LocalQueue {text}",
                path=f"spec.{text}",
                anchor=f"spec.{text}",
                related=(Related(f"ClusterQueue {text}", place), Related("Cohort b")),
            ),
            Finding(rule("first-rule", Severity.WARNING), "file", Place("b.yaml")),
        ),
        rules=(
            ended("first-rule", "fail"),
            ended("second-rule", "pass"),
            ended("third-rule", "vacuous", "no Cohort"),
            ended("fourth-rule", "not evaluated", f"Nodes not given {text}"),
            ended("fifth-rule", "crashed", f"Traceback {text}"),
        ),
        objects=7,
        complete=False,
    )


def written(name, it=None):
    out = io.StringIO()
    writer(name)(it or report(), out)
    return out.getvalue()


@pytest.mark.parametrize("text", ["queue a", NASTY])
def test_json_keeps_its_schema(text):
    schema = json.loads((ROOT / "schemas" / "report.schema.json").read_text("utf-8"))
    Draft202012Validator.check_schema(schema)
    data = json.loads(written("json", report(text)))
    Draft202012Validator(schema).validate(data)
    text = text.replace("\ud800", "?")
    assert [each["message"] for each in data["findings"]] == [
        f"no place: {text}",
        f"wrong: {text}",
        "file",
    ]
    assert data["findings"][1]["place"] == {
        "file": f"{text}.yaml",
        "line": 3,
        "column": 5,
        "length": 4,
    }
    assert data["summary"] == {"error": 1, "warning": 1, "info": 1}
    assert [each["verdict"] for each in data["rules"]] == [
        "fail",
        "pass",
        "vacuous",
        "not evaluated",
        "crashed",
    ]


@pytest.mark.parametrize("text", ["queue a", NASTY])
def test_sarif_is_read_by_its_own_types(text):
    log = Sarif.model_validate_json(written("sarif", report(text)))
    (run,) = log.runs
    assert [rule.id for rule in run.tool.driver.rules] == sorted(
        ["first-rule", "second-rule", "third-rule", "fourth-rule", "fifth-rule", "note"]
    )
    none, first, file = run.results
    assert (none.level, none.locations) == ("note", None)
    assert first.message.text == f"wrong: {text.replace(chr(0xD800), '?')}"
    where = first.locations[0].physical_location
    assert unquote(where.artifact_location.uri, errors="replace").startswith(text[:5])
    assert (where.region.start_line, where.region.start_column, where.region.end_column) == (
        3,
        5,
        9,
    )
    assert file.locations[0].physical_location.region is None


@pytest.mark.parametrize("complete", [True, False])
def test_sarif_of_a_run_that_could_not_read_all_is_no_success(complete):
    whole = replace(report(), rules=(), complete=complete)
    (run,) = Sarif.model_validate_json(written("sarif", whole)).runs
    assert run.invocations[0].execution_successful is complete


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


@pytest.mark.parametrize("text", ["queue a", NASTY])
def test_github_gets_one_command_for_each_finding(text):
    lines = written("github", report(text)).split("\n")
    assert lines.pop() == ""
    assert [re.match("::[a-z]+ ", line)[0] for line in lines] == [
        "::notice ",
        "::error ",
        "::warning ",
    ]
    properties, _, message = lines[1].removeprefix("::error ").partition("::")
    told = dict(part.split("=") for part in properties.split(","))
    plain = told["file"]
    for escape, char in {"%3A": ":", "%2C": ",", "%25": "%"}.items():
        plain, message = plain.replace(escape, char), message.replace(escape, char)
    assert plain == f"{printable(text)}.yaml"
    assert message == f"wrong: {printable(text)}"
    assert (told["line"], told["col"], told["endColumn"], told["title"]) == (
        "3",
        "5",
        "9",
        "first-rule",
    )


@pytest.mark.parametrize("text", ["queue a", NASTY])
def test_gitlab_has_what_its_widget_needs(text):
    data = json.loads(written("gitlab", report(text)))
    assert len({each["fingerprint"] for each in data}) == 3
    for each in data:
        assert set(each) == {"description", "check_name", "fingerprint", "severity", "location"}
        assert each["severity"] in {"info", "minor", "major", "critical", "blocker"}
        assert each["location"]["path"]
        assert each["location"]["lines"]["begin"] >= 1


@pytest.mark.parametrize("text", ["queue a", NASTY])
def test_markdown_is_a_table_of_plain_text(text):
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(written("markdown", report(text)))
    assert sum(token.type == "tr_open" for token in tokens) == 3 + 3
    kinds = {child.type for token in tokens for child in token.children or ()}
    assert kinds <= {"text", "text_special"}


def test_markdown_has_no_links_and_no_formulas():
    out = written("markdown", report(NASTY))
    assert "www." not in out
    assert re.search(r"(?<!\\)\$", out) is None


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
        assert f"{999 - rows} more; -f json has them all" in out
    elif name == "html":
        assert out.count("233 more of ") == 3
    else:
        assert out.count("and 330 more [rule-") == 3


class Page(HTMLParser):
    """The tags of a page, and its text."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.text = [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        assert not {name for name, _ in attrs} - {"lang", "charset", "name", "content", "class"}

    def handle_data(self, data):
        self.text += data


def test_html_shows_all_and_holds_nothing_foreign():
    usual, hostile = Page(written("html")), Page(written("html", report(NASTY)))
    assert usual.tags == hostile.tags
    assert "wrong: queue a" in usual.text
    assert "LocalQueue queue a" in usual.text
    assert "not evaluated: Nodes not given" in usual.text
    assert "<script>alert(1)</script>" in hostile.text
    assert usual.tags.count("article") == 3
    assert usual.tags.count("mark") == 1


def test_what_is_on_a_cluster_is_told_at_the_line_of_the_spec_behind_it():
    """Machines show findings beside files; a file that an object of a cluster holds is none of theirs."""
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


def test_fingerprints_outlive_other_places_and_orders():
    first, second = report().findings, report().findings[::-1]
    moved = [finding._replace(place=Place("c.yaml", 9, 9)) for finding in second]
    assert sorted(fingerprints(first)) == sorted(fingerprints(moved))
    assert len(set(fingerprints([*first, *first]))) == 2 * len(first)


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
