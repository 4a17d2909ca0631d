"""A baseline hides exactly the findings that it contains."""

import json

import pytest

from policygen.app import verdicts
from policygen.core.errors import UsageError
from policygen.core.finding import Verdict
from policygen.core.rule import Severity
from policygen.lint import baseline
from tests.lint.linting import FORMER, RULE, TWICE, queues, rules
from tests.rules import rule


def test_a_baseline_hides_what_was_there_and_shows_what_is_new(lint, tmp_path):
    path = tmp_path / "known.json"
    said = lint(queues("a", "c"), baseline=path, update=True)
    assert said.endswith("2 findings, 2 added, 0 removed\n")
    report = lint(queues("new"), queues("c", "a"), baseline=path)
    assert [it.object for it in report.findings] == ["LocalQueue b/new"]
    assert report.in_baseline == 2


def test_an_entry_that_is_found_no_more_is_stale(lint, tmp_path):
    path = tmp_path / "known.json"
    lint(queues("a", "c"), baseline=path, update=True)
    report = lint(queues("c"), baseline=path)
    assert rules(report) == ["baseline-stale"]
    assert "LocalQueue b/a" in report.findings[0].message
    said = lint(queues("c"), baseline=path, update=True)
    assert said.splitlines()[0] == f"- {RULE}: LocalQueue b/a"
    assert rules(lint(queues("c"), baseline=path)) == []


def test_what_cannot_be_judged_now_is_not_gone(lint, tmp_path):
    path = tmp_path / "known.json"
    lint(queues("a"), baseline=path, update=True)
    assert rules(lint(queues("c"), baseline=path, partial=True)) == []
    report = lint(queues("c"), "a: [", baseline=path)
    assert "baseline-stale" not in rules(report)
    assert verdicts.verdict(report, Severity.ERROR) == Verdict.NOT_EVALUATED
    with pytest.raises(UsageError, match="some input could not be read"):
        lint(queues("c"), "a: [", baseline=path, update=True)


@pytest.mark.parametrize("text", ["", "[]", '{"version": 2, "findings": []}', '{"version": 1}'])
def test_a_file_that_is_not_a_baseline_is_refused(lint, tmp_path, text):
    path = tmp_path / "known.json"
    path.write_text(text)
    with pytest.raises(
        UsageError, match=r"known\.json: this (file is not a valid baseline|baseline has version)"
    ):
        lint(queues("a"), baseline=path)


def test_a_baseline_is_sorted_and_read_back(lint, tmp_path):
    path = tmp_path / "known.json"
    lint(queues("c", "a"), baseline=path, update=True)
    text = path.read_text("utf-8")
    assert baseline.text(baseline.read(text.encode())) == text
    assert [it["object"] for it in json.loads(text)["findings"]] == [
        "LocalQueue b/a",
        "LocalQueue b/c",
    ]


@pytest.mark.parametrize("name", FORMER)
def test_a_baseline_with_a_former_name_knows_the_finding(lint, tmp_path, name):
    file = tmp_path / "baseline.json"
    texts = queues("a", "a")
    findings = [it for it in lint(texts).findings if it.rule.name == TWICE]
    former = [it._replace(rule=rule(name, Severity.ERROR)) for it in findings]
    file.write_text(baseline.text(baseline.create(former)), "utf-8")
    report = lint(texts, only=(TWICE,), baseline=file)
    assert (rules(report), report.in_baseline) == ([], 1)
