"""Every finding is one object of the registry, and every object of the registry is emitted."""

import ast
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest

from policygen.core.rule import Family, Rule
from policygen.lint.registry import REGISTRY, RULES, can_be_selected, find
from policygen.lint.rule import ObjectRule

SOURCE = Path(__file__).parents[2] / "policygen"
MODULES = [
    "policygen.documents.rules",
    "policygen.kubernetes.rules",
    "policygen.lint.run_rules",
    "policygen.plan.rules",
    "policygen.spec.rules",
]


def test_every_name_and_every_former_name_is_used_once():
    names = Counter(name for rule in REGISTRY for name in (rule.name, *rule.aliases))
    assert [name for name, count in names.items() if count > 1] == []
    assert all(find(name) is not None for name in names)


def test_the_registry_is_sorted_and_holds_the_rules_that_check_objects():
    assert [rule.name for rule in REGISTRY] == sorted(rule.name for rule in REGISTRY)
    assert set(RULES) == {rule for rule in REGISTRY if isinstance(rule, ObjectRule)}


@pytest.mark.parametrize("name", MODULES)
def test_a_module_of_rules_lists_each_of_them(name):
    module = import_module(name)
    written = [value for value in vars(module).values() if isinstance(value, Rule)]
    assert list(module.RULES) == written
    assert set(written) <= set(REGISTRY)


def test_every_rule_that_checks_no_objects_is_emitted_somewhere():
    modules = {SOURCE.parent / f"{name.replace('.', '/')}.py" for name in MODULES}
    used = {
        node.id
        for path in set(SOURCE.rglob("*.py")) - modules
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Name)
    }
    constants = {
        rule.name.replace("-", "_").upper() for rule in REGISTRY if not isinstance(rule, ObjectRule)
    }
    assert constants - used == set()


def test_no_finding_is_made_of_a_name():
    """mypy holds that too; this reads the calls that it cannot see into."""
    made = [
        f"{path.relative_to(SOURCE)}:{call.lineno}"
        for path in SOURCE.rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(call, ast.Call)
        and getattr(call.func, "id", "") in {"Hit", "Finding"}
        and call.args
        and isinstance(call.args[0], ast.Constant | ast.JoinedStr)
    ]
    assert made == []


def test_refusals_and_reports_about_a_run_cannot_be_switched_off():
    fixed = {rule.family for rule in REGISTRY if not can_be_selected(rule)}
    assert fixed == {Family.REFUSED, Family.RUN}


@pytest.mark.parametrize("rule", REGISTRY, ids=str)
def test_a_rule_has_a_summary_of_one_line(rule):
    assert rule.summary
    assert "\n" not in rule.summary
