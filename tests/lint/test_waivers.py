"""Severities and waivers: how users change which findings count."""

import pytest

from policygen.app import verdicts
from policygen.core.errors import SpecError
from policygen.core.finding import Verdict
from policygen.core.rule import Severity
from policygen.lint import waivers
from policygen.spec import programs
from tests.lint.linting import FORMER, RULE, TODAY, TWICE, platform, queues, rules


def test_a_severity_of_the_spec_is_the_rules_severity(lint):
    report = lint(platform(f"severities: {{{RULE}: info}}"), queues("a"))
    assert [(it.rule.name, it.severity) for it in report.findings] == [(RULE, Severity.INFO)]
    assert verdicts.verdict(report, Severity.WARNING) == Verdict.PASS
    assert verdicts.verdict(report, Severity.INFO) == Verdict.FAIL


def test_a_rule_that_is_off_finds_nothing(lint):
    report = lint(platform(f"severities: {{{RULE}: 'off'}}"), queues("a"))
    assert (rules(report), report.off) == ([], 1)


def test_a_waiver_takes_out_what_it_names_and_is_counted(lint):
    waiver = f"waivers:\n- {{rule: {RULE}, object: LocalQueue b/a*, reason: old}}"
    report = lint(platform(waiver), queues("a1", "a2", "c"))
    assert [it.object for it in report.findings] == ["LocalQueue b/c"]
    assert report.waived == 2


def test_a_dot_of_a_waiver_is_a_dot(lint):
    waiver = f"waivers:\n- {{rule: {RULE}, object: LocalQueue b/a.c, reason: old}}"
    found = lint(platform(waiver), queues("a.c", "axc"))
    assert [it.object for it in found.findings] == ["LocalQueue b/axc"]


@pytest.mark.parametrize("field", ["spec.clusterQueue", "*Queue", "spec.*"])
def test_a_waiver_of_a_field_accepts_that_field_only(lint, field):
    other = field.replace("spec", "status").replace("*Queue", "*queue")
    waiver = f"waivers:\n- {{rule: {RULE}, field: '%s', reason: old}}"
    assert rules(lint(platform(waiver % field), queues("a"))) == []
    assert rules(lint(platform(waiver % other), queues("a"))) == ["waiver-unused", RULE]


def test_the_last_day_of_a_waiver_counts_and_the_next_does_not(lint):
    text = f"waivers:\n- {{rule: {RULE}, reason: old, expires: '%s'}}"
    assert rules(lint(platform(text % "2026-11-21"), queues("a"))) == []
    assert rules(lint(platform(text % "2026-11-20"), queues("a"))) == ["waiver-expired", RULE]


def test_a_waiver_that_waives_nothing_is_reported(lint):
    waiver = f"waivers:\n- {{rule: {RULE}, object: LocalQueue b/z, reason: old}}"
    report = lint(platform(waiver), queues("a"))
    assert rules(report) == ["waiver-unused", RULE]
    assert report.findings[0].place.line == 8


def test_a_waiver_of_what_was_not_judged_is_not_called_unused(lint):
    waiver = f"waivers:\n- {{rule: {RULE}, reason: old}}"
    assert rules(lint(platform(waiver), queues("a"), partial=True)) == []
    assert rules(lint(platform(waiver), queues("a"), skip=(RULE,))) == []
    assert rules(lint(platform(waiver))) == []
    off = f"{waiver.replace('{', '{object: LocalQueue b/z, ')}\nseverities: {{{RULE}: 'off'}}"
    assert rules(lint(platform(off), queues("a"))) == []


@pytest.mark.parametrize(
    "settings",
    [f"severities: {{{RULE[:-1]}: info}}", f"waivers:\n- {{rule: {RULE[1:]}, reason: b}}"],
)
def test_a_misspelt_rule_is_an_error_that_names_the_right_one(lint, settings):
    with pytest.raises(SpecError) as raised:
        lint(platform(settings), queues("a"))
    (finding,) = raised.value.findings
    assert finding.rule.name == "unknown-rule"
    assert f'did you mean "{RULE}"?' in finding.message
    assert finding.place.line in {7, 8}


@pytest.mark.parametrize("rule", ["workload-pendin-long", RULE])
def test_a_bound_of_a_rule_that_does_not_wait_is_an_error(lint, rule):
    with pytest.raises(SpecError) as raised:
        lint(platform(f"bounds: {{{rule}: 1h}}"), queues("a"))
    (finding,) = raised.value.findings
    assert f'rule "{rule}" has no time limit' in finding.message


@pytest.mark.parametrize("name", [TWICE, *FORMER])
def test_a_rule_is_known_by_its_former_names(lint, name):
    texts = queues("a", "a")
    assert TWICE in rules(lint(texts))
    assert TWICE not in rules(lint(texts, skip=(name,)))
    assert set(rules(lint(texts, only=(name,)))) == {TWICE}
    assert lint(platform(f"severities: {{{name}: 'off'}}"), texts).off == 1
    assert lint(platform(f"waivers:\n- {{rule: {name}, reason: old}}"), texts).waived == 1


def test_a_refusal_of_a_spec_cannot_be_switched_off_by_the_name_of_a_rule(lint):
    off = platform(f"severities: {{{TWICE}: 'off'}}\nwaivers:\n- {{rule: {TWICE}, reason: old}}")
    team = "apiVersion: policygen.dev/v1alpha1\nkind: Team\nmetadata: {name: a}\n"
    team += "spec: {namespaces: [{name: a}]}\n"
    lint(off, team)
    with pytest.raises(SpecError) as raised:
        lint(off, team, team, skip=(TWICE,))
    assert [it.rule.name for it in raised.value.findings] == [TWICE]
    settings = programs.LintSettings(severities=((TWICE, "off"),))
    judged = waivers.apply(raised.value.findings, settings, today=TODAY)
    assert (judged.shown, judged.off) == (raised.value.findings, 0)
