"""Every rule has a page, and its examples give the findings that the page shows."""

import re
from datetime import date
from importlib.resources import files
from pathlib import Path

import pytest

from policygen.app import lint, render
from policygen.app.requests import ClusterRequest, LintRequest, parse_targets
from policygen.client import snapshot_file as snapshots
from policygen.core.rule import Family, Severity
from policygen.core.suggest import suggest
from policygen.kubernetes.cluster import Cluster
from policygen.lint import schema_rules
from policygen.lint.kinds import OF_MANIFESTS, every
from policygen.lint.page import page
from policygen.lint.registry import RULES
from tests.client.looks import snapshot
from tests.examples_of_rules import examples

ROOT = Path(__file__).parents[2]
TODAY = date(2026, 11, 21)
NAMES = [rule.name for rule in RULES]
FOLDER = Path(str(files("policygen.lint")))


def split(text):
    """The documents of a spec, and those of a cluster."""
    documents = re.split(r"^---\n", text, flags=re.MULTILINE)
    spec = [
        each for each in documents if re.search("^apiVersion: policygen.dev/", each, re.MULTILINE)
    ]
    return "---\n".join(spec), "---\n".join(each for each in documents if each not in spec)


def linted(example, tmp_path):
    """The names of the rules that find something in an example."""
    file = tmp_path / "example.yaml"
    target = parse_targets(dict(word.split("=") for word in example.options if "=" in word))
    if "seen" in example.options:
        spec, text = split(example.text)
        file.write_text(spec, "utf-8")
        if "applied" in example.options:  # what the spec renders is on the cluster
            rendering = render.RenderRequest(specs=(str(file),), target=target, allow_empty=True)
            text += "".join(each.text for each in render.render(rendering).manifests)
        snapshots.write(snapshot(text), tmp_path / "example.snapshot")
        settings = LintRequest(
            specs=(str(file),) if spec else (),
            clusters=ClusterRequest(snapshots=(tmp_path / "example.snapshot",)),
            target=target,
        )
    elif "changed" in example.options:
        held, _, text = example.text.partition("---\n")
        file.write_text(text, "utf-8")
        snapshots.write(snapshot(held), tmp_path / "example.snapshot")
        settings = LintRequest(
            manifests=(str(file),),
            clusters=ClusterRequest(snapshots=(tmp_path / "example.snapshot",)),
            target=target,
            partial=True,
        )
    else:
        file.write_text(example.text, "utf-8")
        settings = LintRequest(
            manifests=(str(file),), target=target, partial="partial" in example.options
        )
    report = lint.lint(settings, today=TODAY)
    assert report.complete
    assert report.count("crashed") == 0, [each.reason for each in report.rules]
    # A spec may have other findings.
    alone = "policygen.dev/v1" not in example.text
    return [it.rule.name for it in report.findings if alone or it.rule.name in NAMES]


def test_rules_are_listed_once_and_in_order():
    assert sorted(set(NAMES)) == NAMES


def test_every_module_is_listed_and_every_rule_has_a_page():
    modules = {path.stem for path in FOLDER.glob("*/rules/*.py")} - {"__init__"}
    assert modules == {path.stem for path in FOLDER.glob("*/rules/*.md")}
    rows = {name.replace("-", "_") for name in map(str, schema_rules.RULES)}
    assert rows <= {path.stem for path in FOLDER.glob("pages/*.md")}
    assert modules.isdisjoint(rows)
    assert modules | rows == {name.replace("-", "_") for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_bad_examples_break_this_rule_and_no_other(name, tmp_path):
    for example in examples(name, good=False):
        assert set(linted(example, tmp_path)) == {name}


@pytest.mark.parametrize("name", NAMES)
def test_good_examples_are_clean(name, tmp_path):
    for example in examples(name, good=True):
        assert linted(example, tmp_path) == []


@pytest.mark.parametrize("name", NAMES)
def test_pages_begin_with_their_name_and_a_reason(name):
    text = page(name).text
    title, paragraph = text.split("\n\n")[:2]
    assert title == f"# {name}"
    assert paragraph.count(". ") + paragraph.count(".\n") >= 1, (
        "explain why it matters, and how to fix it"
    )
    assert re.findall(r"^## (.*)$", text, re.MULTILINE)[:2] == ["Bad", "Good"]


@pytest.mark.parametrize("name", [name for name in NAMES if page(name).proof])
def test_the_proof_of_a_page_is_a_test_that_exists(name):
    path, _, test = str(page(name).proof).partition("::")
    assert f"def {test}(" in (ROOT / path).read_text("utf-8")


@pytest.mark.parametrize("rule", RULES, ids=NAMES)
def test_a_harm_is_shown_on_real_servers_or_the_page_has_a_reason(rule):
    """Without such a proof a rule is not an error. Refusals and drift have tests of their own."""
    it = page(rule.name)
    if rule.family is not Family.INERT:
        return
    assert (it.proof is None) == (it.not_shown is not None), "Proven: or Not proven:, and not both"
    assert it.proof or rule.severity < Severity.ERROR


@pytest.mark.parametrize("rule", RULES, ids=NAMES)
def test_a_rule_judges_and_reads_kinds_that_are_known(rule):
    known = {kind for _, kind in Cluster(()).tables} | {it.kind for it in every()} | {*OF_MANIFESTS}
    for kind in (*rule.judges, *rule.reads):
        assert kind in known, suggest(kind, known)


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*/expected")), ids=str)
def test_what_we_render_is_clean(example):
    report = lint.lint(LintRequest(manifests=(str(example),)), today=TODAY)
    assert [(it.rule.name, it.object, it.message) for it in report.findings] == []
    assert report.objects
