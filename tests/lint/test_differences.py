"""A difference between a workload and its model is reported once, by the rule that is most severe."""

from datetime import date
from pathlib import Path

import pytest
import yaml

from policygen.app import lint
from policygen.app.requests import LintRequest
from policygen.core.finding import At, Difference, Hit
from policygen.core.rule import Family, Rule, Severity
from policygen.lint.core.rules import model_without_budget, workload_differs_from_model
from policygen.lint.differences import joined, message
from policygen.lint.registry import RULES
from tests.patch.test_model_fields import LABEL, ROOT, is_policy, leaves, without, workloads

MAIN, OTHER, ERROR = (
    Rule(name, severity, Family.INERT, "about", remedy="Do it.")
    for name, severity in (
        ("main", Severity.WARNING),
        ("other", Severity.WARNING),
        ("error", Severity.ERROR),
    )
)
JOB = At(0, ("items", 1))
QUEUE = Difference(JOB, "queue: a", rules=("other", "error"))
CPU = Difference(JOB, "cpu: 1")
WRONG = Difference(JOB, "x is 1", JOB / "x", "write 2")


def joined_with(*others, differences=(QUEUE, CPU, WRONG)):
    hit = Hit(MAIN, message("it", differences), JOB / "x", differences=differences)
    return [[it.message for it in found] for found in joined([(hit,), others])]


ALL = "it: x is 1; it does not have queue: a and cpu: 1; write 2, then run `policygen patch FILE --spec SPEC --write`"


def test_a_consequence_in_the_same_object_is_omitted():
    elsewhere = Hit(OTHER, "elsewhere", At(0, ("items", 10)))
    assert joined_with(Hit(OTHER, "same", JOB / "metadata"), elsewhere) == [[ALL], ["elsewhere"]]
    assert joined_with(Hit(OTHER, "of a quota", At(5), (JOB,)))[1] == []
    assert joined_with(Hit(OTHER, "of all")) == [[ALL], ["of all"]]


def test_an_error_replaces_a_difference():
    error, same = Hit(ERROR, "refused", JOB / "y"), Hit(OTHER, "same", JOB / "y")
    rest = "it: x is 1; it does not have cpu: 1; write 2, then run `policygen patch FILE --spec SPEC --write`"
    assert joined_with(error, same) == [[rest], ["refused"]]
    assert joined_with(error, differences=(QUEUE,)) == [[], ["refused"]]


def test_any_rule_about_a_wrong_value_is_about_the_same_fault():
    third = Rule("third", Severity.INFO, Family.INERT, "about")
    assert joined_with(Hit(third, "x", JOB / "x")) == [[ALL], []]


def test_the_rules_of_differences_exist():
    names = {rule.name for rule in RULES}
    known = {*workload_differs_from_model.GPU_CONSEQUENCES}.union(
        *workload_differs_from_model.CONSEQUENCES.values()
    )
    assert known - names <= {"missing-field"}  # of schemas


def cases():
    """Each field of the policy, once for each pool and kind of scheduling: the workload without it."""
    found = {}
    for data, gang in workloads("ml-platform"):
        for path in leaves(data):
            if is_policy(data, path, gang) and path[-2:] != ("limits", "cpu"):
                key = path[-1], data["kind"] == "CronJob", gang
                found.setdefault(key, (data, path))
    return found.values()


@pytest.fixture(scope="module")
def spec():
    return str(ROOT / "examples" / "ml-platform")


def test_each_missing_field_is_reported_once(spec, tmp_path):
    file = tmp_path / "job.yaml"
    for data, path in cases():
        file.write_text(yaml.safe_dump(without(data, path)), "utf-8")
        report = lint.lint(LintRequest((spec,), (str(file),)), today=date(2026, 11, 23))
        here = [
            it
            for it in report.findings
            if it.place and Path(it.place.file) == file and it.rule is not model_without_budget.RULE
        ]
        assert len(here) == (path[-1] != LABEL), (path, [it.message for it in here])
