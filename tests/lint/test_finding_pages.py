"""The examples in the pages of findings about specs and runs give the findings that they show.

Those pages are `policygen/*/pages`. test_rule_pages.py runs the pages of rules that check objects.
"""

import re
from datetime import date
from importlib import import_module
from pathlib import Path

import pytest

from policygen.app import explain, lint, render
from policygen.app.requests import LintRequest, RenderRequest, parse_targets
from policygen.core.errors import SpecError
from policygen.core.rule import Family, Severity
from policygen.lint.page import page
from policygen.lint.registry import REGISTRY
from policygen.lint.rule import ObjectRule

PACKAGE = Path(__file__).parents[2] / "policygen"
TODAY = date(2026, 11, 21)
MODULES = ("documents", "kubernetes", "lint", "plan", "spec")
RULES = [rule for rule in REGISTRY if not isinstance(rule, ObjectRule)]
NAMES = [rule.name for rule in RULES]
SHOWN = [name for name in NAMES if page(name).bad.language == "yaml"]
"""Findings with examples that can be run."""
OF_LINT = {
    rule.name
    for module in ("policygen.kubernetes.rules", "policygen.lint.run_rules")
    for rule in import_module(module).RULES
}
"""Rules that `policygen lint` reports, and `validate` does not."""


def documents_of_both(text):
    """The documents of a spec, and the others."""
    documents = re.split(r"^---\n", text, flags=re.MULTILINE)
    spec = [it for it in documents if re.search("^apiVersion: policygen.dev/", it, re.MULTILINE)]
    return "---\n".join(spec), "---\n".join(it for it in documents if it not in spec)


def found(name, example, folder):
    """What `policygen validate` reports about an example, or `lint` if it is a rule of a run."""
    target = parse_targets(dict(word.split("=") for word in example.options))
    (folder / "spec").mkdir()
    (folder / "manifests").mkdir()
    spec, manifests = folder / "spec" / "spec.yaml", folder / "manifests" / "manifests.yaml"
    try:
        if name not in OF_LINT:
            spec.write_text(example.text, "utf-8")
            return render.validate(RenderRequest(specs=(str(spec),), target=target)).findings
        texts = documents_of_both(example.text)
        for path, text in zip((spec, manifests), texts, strict=True):
            path.write_text(text, "utf-8")
        settings = LintRequest(
            specs=(str(spec),) if texts[0] else (),
            manifests=(str(manifests),) if texts[1] else (),
            target=target,
        )
        return lint.lint(settings, today=TODAY).findings
    except SpecError as error:
        return error.findings


def test_a_page_is_in_the_package_of_its_rule():
    for module in MODULES:
        tables = ("run_rules", "schema_rules") if module == "lint" else ("rules",)
        rules = [it for name in tables for it in import_module(f"policygen.{module}.{name}").RULES]
        pages = {path.stem for path in (PACKAGE / module / "pages").glob("*")}
        assert pages <= {rule.name.replace("-", "_") for rule in rules}
    assert {path.parent.parent.name for path in PACKAGE.rglob("pages/*.md")} <= set(MODULES)


@pytest.mark.parametrize("name", SHOWN)
def test_the_bad_example_is_reported(name, tmp_path):
    """The finding has the severity of the registry; a refusal is the only error."""
    findings = found(name, page(name).bad, tmp_path)
    rule = next(it.rule for it in findings if it.rule.name == name)
    assert rule in REGISTRY
    errors = {it.rule.name for it in findings if it.severity is Severity.ERROR}
    assert errors == ({name} if rule.severity is Severity.ERROR else set())


@pytest.mark.parametrize("name", SHOWN)
def test_the_good_example_is_not(name, tmp_path):
    findings = found(name, page(name).good, tmp_path)
    reported = {it.rule.name for it in findings}
    assert name not in reported
    assert [it for it in findings if it.severity is Severity.ERROR] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_page_begins_with_its_name_the_reason_and_the_fix(name):
    it = page(name)
    title, paragraph = it.text.split("\n\n")[:2]
    assert title == f"# {name}"
    assert paragraph.count(". ") + paragraph.count(".\n") >= 1, "why it matters, and how to fix it"
    assert re.findall(r"^## (.*)$", it.text, re.MULTILINE) == ["Bad", "Good"]
    assert it.bad.language == it.good.language
    assert it.bad.text != it.good.text


@pytest.mark.parametrize("name", NAMES)
def test_explain_prints_the_page(name):
    title, paragraph, examples = page(name).text.split("\n\n", 2)
    full = explain.explain(name, full=True)
    assert full.startswith(f"{title}\n\n")
    assert full.endswith(f"{paragraph}\n\n{examples}")
    shown = explain.explain(name)
    assert shown.startswith(f"{title}\n\n")
    assert " ".join(paragraph.split()) in " ".join(shown.split())


def test_explain_prints_the_page_of_a_former_name():
    rules = [rule for rule in REGISTRY if rule.aliases]
    assert rules
    for rule in rules:
        assert all(explain.explain(name) == explain.explain(rule.name) for name in rule.aliases)


def test_refusals_need_an_example_that_can_be_run_unless_no_spec_shows_them():
    """A text in a page cannot show findings about files and encodings, so the list names them."""
    shown_otherwise = {
        rule.name
        for rule in RULES
        if rule.family is Family.REFUSED and rule.name in NAMES and rule.name not in SHOWN
    }
    assert shown_otherwise <= NOT_A_SPEC


NOT_A_SPEC = {
    "bad-base-file",
    "file-not-utf-8",
    "more-problems",
    "no-configuration",
    "no-spec-files",
    "output-inside-input",
    "unreadable-input",
    "unexplained-refusal",
}
"""Refusals of files, of their encoding, and of policygen's own errors."""
