"""Phrases that several formats share."""

import io
import json

import pytest

from policygen.core.finding import Finding, Place, Related
from policygen.core.rule import Severity
from policygen.report import phrases
from policygen.report.phrases import More
from tests.rules import rule

FILE, LINE = Place("a.yaml"), Place("a.yaml", 3, 5)


def findings(name, count, start=0):
    return [Finding(rule(name), f"m{number}") for number in range(start, start + count)]


def test_findings_of_a_rule_are_bounded_and_the_rest_is_counted():
    shown, hidden = phrases.bounded([*findings("a", phrases.MAX_OF_A_RULE + 2), *findings("b", 1)])
    assert (len(shown), hidden) == (phrases.MAX_OF_A_RULE + 1, {"a": 2})


def test_many_findings_of_a_rule_are_a_group_behind_the_first_of_them():
    few, many = findings("few", phrases.LEAST_GROUP), findings("many", phrases.LEAST_GROUP + 1)
    shown = list(phrases.grouped([*many[:4], *few, *many[4:]]))
    rest = phrases.SHOWN_OF_GROUP
    assert shown == [*many[:rest], More(rule("many"), tuple(many[rest:])), *few]


def test_a_long_text_is_cut_in_the_middle():
    assert phrases.cut("x" * phrases.MAX_MESSAGE) == "x" * phrases.MAX_MESSAGE
    cut = phrases.cut("a" * 1000 + "b" * 1000)
    assert len(cut) <= phrases.MAX_MESSAGE
    assert cut[0] + cut[-1] == "ab"
    assert phrases.MORE in cut


@pytest.mark.parametrize(
    ("it", "words"),
    [
        (Finding(rule(), "m"), ""),
        (Finding(rule(), "m", FILE), "a.yaml"),
        (Finding(rule(), "m", LINE), "a.yaml:3:5"),
        (Finding(rule(), "m", cluster="east"), "east"),
        (
            Finding(rule(), "m", object="Pod a", path="spec.x", cluster="east"),
            "east: Pod a: spec.x",
        ),
        (Finding(rule(), "m", LINE, "ConfigMap a", cluster="east"), "east: a.yaml:3:5"),
    ],
)
def test_where_a_finding_is(it, words):
    assert phrases.whereabouts(it) == words


def test_the_place_to_edit_of_a_finding_on_a_cluster_is_in_the_spec():
    related = (Related("Pod b"), Related("Team a", LINE))
    assert phrases.behind(Finding(rule(), "m", FILE, related=related)) == FILE
    assert phrases.behind(Finding(rule(), "m", FILE, related=related, cluster="east")) == LINE
    assert phrases.behind(Finding(rule(), "m", FILE, cluster="east")) is None


def test_a_headline():
    it = Finding(rule("r", Severity.WARNING), "wrong", LINE)
    assert phrases.headline(it) == "a.yaml:3:5: warning: wrong [r]"
    assert phrases.headline(it._replace(place=None)) == "warning: wrong [r]"


def test_json_is_ascii_whatever_is_in_it():
    out = io.StringIO()
    phrases.write_json({"a": "é\U0001f600\ud800"}, out)
    assert out.getvalue().isascii()
    assert out.getvalue().endswith("}\n")
    assert json.loads(out.getvalue()) == {"a": "é\U0001f600?"}
