"""The verdicts of rules over all inputs, and the exit code."""

import pytest
from msgspec.structs import replace

from policygen.app import verdicts
from policygen.core.finding import Finding, Verdict
from policygen.core.rule import Family, Severity
from policygen.lint.engine import RuleOutcome
from policygen.lint.rule import ObjectRule
from policygen.report.report import Report
from tests.report.reports import ended, report
from tests.rules import rule

RULE = ObjectRule("r", Severity.ERROR, Family.INERT, "about.", judges=(), check=lambda _: iter(()))


def merged(*several, whole=True):
    (it,) = verdicts.merged([[RuleOutcome(RULE, each)] for each in several], whole=whole)
    return it.verdict, it.whole


def test_the_worst_of_all_inputs_counts():
    assert merged(Verdict.PASS, Verdict.VACUOUS) == (Verdict.PASS, True)
    assert merged(Verdict.PASS, Verdict.FAIL) == (Verdict.FAIL, True)
    assert merged(Verdict.FAIL, Verdict.CRASHED) == (Verdict.CRASHED, True)
    assert merged(Verdict.PASS, Verdict.NOT_EVALUATED) == (Verdict.NOT_EVALUATED, False)
    assert merged(Verdict.PASS, whole=False) == (Verdict.PASS, False)


def test_a_result_has_the_texts_of_its_rule():
    (it,) = verdicts.unjudged([RULE], "no spec")
    assert (it.rule, it.about, it.reason) == ("r", "about", "no spec")
    assert it.verdict is Verdict.NOT_EVALUATED


def test_a_rule_fails_too_where_a_spec_has_its_fault():
    results = (ended("a", "pass"), ended("b", "pass"), ended("c", "crashed"))
    found = [Finding(rule("a"), "m"), Finding(rule("c"), "m")]
    assert [it.verdict.value for it in verdicts.with_findings(results, found)] == [
        *("fail", "pass", "crashed"),
    ]


def test_a_run_in_which_no_rule_could_run_is_reported():
    assert verdicts.idle([]) is None
    assert verdicts.idle([ended("a", "not evaluated", "x"), ended("b", "vacuous")]) is None
    it = verdicts.idle([ended("a", "not evaluated", "x")])
    assert it.message == "no selected rule could be evaluated: a (x)"


def test_rules_that_ran_on_all_inputs():
    partly = replace(ended("b", "fail"), whole=False)
    found = verdicts.evaluated([ended("a", "pass"), partly, ended("c", "not evaluated")])
    assert found & {"a", "b", "c"} == {"a"}


@pytest.mark.parametrize(
    ("it", "fail_on", "verdict"),
    [
        (report(), Severity.ERROR, Verdict.CRASHED),
        (replace(report(), rules=()), Severity.ERROR, Verdict.NOT_EVALUATED),
        (replace(report(), rules=(), incomplete=""), Severity.ERROR, Verdict.FAIL),
        (Report((Finding(rule("r", Severity.INFO), "m"),)), Severity.WARNING, Verdict.PASS),
        (Report((Finding(rule("r", Severity.INFO), "m"),)), Severity.INFO, Verdict.FAIL),
    ],
)
def test_what_decides_the_exit_code(it, fail_on, verdict):
    assert verdicts.verdict(it, fail_on) is verdict
