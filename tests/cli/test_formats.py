"""All commands alike: the formats of their answers, and their colours."""

import json
import re
from pathlib import Path

import click
import jsonschema_rs
import pytest
import yaml

from policygen.cli.main import cli
from policygen.cli.test import FORMATS as FORMATS_OF_TEST
from policygen.client import snapshot_file
from policygen.report.catalog import FORMATS
from tests.client.looks import snapshot

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs" / "pipelines.md"
EVERY = {"text", "json", "markdown"}
SPEC = "examples/kueue-team-tree"
OLD = "apiVersion: kueue.x-k8s.io/v1beta1\nkind: Cohort\nmetadata: {name: a}\n"
INVALID = "apiVersion: policygen.dev/v1alpha1\nkind: Team\nmetadata: {name: a}\nspec: {quota: []}\n"
JOB = yaml.safe_dump({
    "apiVersion": "batch/v1", "kind": "Job",
    "metadata": {"name": "j", "namespace": "vision", "labels": {"kueue.x-k8s.io/queue-name": "a100"}},
    "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [
        {"name": "c", "image": "i", "resources": {"limits": {"nvidia.com/gpu": 4}}},
    ]}}},
})  # fmt: skip
READERS = {
    "validate": ("report", SPEC),
    "validate of an invalid spec": ("report", "{invalid}"),
    "lint": ("report", "--manifests", "{old}"),
    "upgrade": ("report", "--to", "kueue=0.19", "{old}"),
    "patch": ("report", "{job}", "--spec", SPEC),
    "adopt": ("adoption", "--manifests", f"{SPEC}/expected/manifests.yaml"),
    "diff": ("review", SPEC, "examples/three-schedulers"),
    "diff of two snapshots": ("diff", "{before}", "{after}"),
    "show": ("show", SPEC),
    "explain": ("explain", "ClusterQueue/vision.a100", "spec..borrowingLimit", SPEC),
    "explain object": ("explain", "ClusterQueue/vision.a100", SPEC),
    "explain team": ("explain", "team", "vision", SPEC),
    "explain SPECFIELD": ("explain", "ResourcePool.spec", "--recursive"),
    "explain RULE": ("rules", "queue-stopped"),
    "rules": ("rules", "--kind", "LocalQueue"),
    "simulate": ("simulation", SPEC, "--workloads", "{job}"),
    "why": ("why", "vision/j", SPEC, "--workloads", "{job}"),
    "fit": ("fit", "--team", "vision", "--gpus", "8", SPEC),
    "test": ("test", "docs/policy-tests"),
    "test that fails": ("test", "{cases}"),
}
"""Commands with an answer to read, each with the schema of its JSON and its arguments."""
COLOURED = {
    *(
        "validate",
        "validate of an invalid spec",
        "lint",
        "patch",
        "explain",
        "explain object",
        "explain team",
    ),
    *(
        "explain SPECFIELD",
        "show",
        "simulate",
        "why",
        "fit",
        "render",
        "render of an invalid spec",
        "test without cases",
    ),
}
"""The commands whose text, or whose findings, have colours."""
OTHERS = {
    "render": (SPEC,),
    "render of an invalid spec": ("{invalid}",),
    "workload": ("segmenter", "examples/ml-platform/policy.yaml"),
    "init": ("--product", "h100-80gb", "--nodes", "2", "--team", "a"),
    "schema": ("Team",),
    "rbac": (SPEC,),
    "test without cases": ("{old}",),
    "krm": (),
    "completion": ("bash",),
}
"""Further commands, with their arguments."""
CODES = (0, 1, 2, 3)
"""Exit codes of an answer; `patch` exits with 3 because it refuses the Job."""
_HUE = re.compile(r"\x1b\[[0-9;]*m")


def formats():
    """The formats of each command."""
    found = {}
    for name, command in cli.commands.items():
        for option in command.params:
            if option.name == "form" and isinstance(option.type, click.Choice):
                found[name] = [*option.type.choices]
            elif option.name == "formats":
                found[name] = [*(FORMATS if name == "lint" else FORMATS_OF_TEST)]
    return found


@pytest.fixture
def answer(tmp_path, monkeypatch, run):
    """What a command prints: to standard output and standard error."""
    monkeypatch.chdir(ROOT)
    files = {it: tmp_path / f"{it}.yaml" for it in ("old", "job", "invalid", "before", "after")}
    for name, text in (("old", OLD), ("job", JOB), ("invalid", INVALID)):
        files[name].write_text(text)
    for name, text in (("before", OLD), ("after", OLD.replace("name: a", "name: b"))):
        snapshot_file.write(snapshot(text.replace("v1beta1", "v1beta2")), files[name])

    cases = tmp_path / "cases"
    case = cases / "a *case*"
    case.mkdir(parents=True)
    (case / "findings.txt").write_text("queue.yaml:1: error: queue-stopped: ClusterQueue a\n")
    (case / "queue.yaml").write_text(OLD)

    def call(name, *arguments):
        given = [it.format(**files, cases=cases) for it in arguments]
        return run(name.split()[0], *given)

    return call


def test_each_command_with_an_answer_has_text_json_and_markdown():
    found = formats()
    assert {name.split()[0] for name in READERS} == set(found)
    assert {name for name, known in found.items() if not set(known) >= EVERY} == set()


def test_the_docs_list_the_formats_of_all_commands(update):
    rows = "".join(
        f"| `{name}` | {', '.join(known)} |\n" for name, known in sorted(formats().items())
    )
    block = f"<!-- formats -->\n| command | formats |\n|---|---|\n{rows}<!-- /formats -->"
    text = DOCS.read_text("utf-8")
    new = re.sub(r"<!-- formats -->.*<!-- /formats -->", lambda _: block, text, flags=re.DOTALL)
    if update:
        DOCS.write_text(new, "utf-8")
    assert DOCS.read_text("utf-8") == new
    assert block in new


@pytest.mark.parametrize("name", READERS)
def test_json_follows_its_schema(name, answer):
    schema, *arguments = READERS[name]
    code, out, _ = answer(name, *arguments, "-f", "json")
    assert code in CODES
    described = json.loads((ROOT / "schemas" / f"{schema}.schema.json").read_text("utf-8"))
    jsonschema_rs.validate(described, json.loads(out))


@pytest.mark.parametrize("name", READERS)
def test_markdown_has_titles_and_tables(name, answer, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    _, *arguments = READERS[name]
    code, out, err = answer(name, *arguments, "-f", "markdown")
    assert code in CODES
    assert (err, "\x1b" in out) == ("", False)
    assert re.search(r"^#+ .|^\*\*", out, re.MULTILINE)
    for table in re.findall(r"(?:^\|.*\n)+", re.sub(r"\\.|`[^`\n]*`", "", out), re.MULTILINE):
        assert len({row.count("|") for row in table.splitlines()}) == 1, table


@pytest.mark.parametrize("name", [*READERS, *OTHERS])
def test_no_color_omits_colours(name, answer, monkeypatch):
    """Colours are only in text, and NO_COLOR omits them even with FORCE_COLOR."""
    arguments = READERS[name][1:] if name in READERS else OTHERS[name]
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    coloured = answer(name, *arguments)
    monkeypatch.setenv("NO_COLOR", "1")
    plain = answer(name, *arguments)
    assert "\x1b" not in "".join(plain[1:])
    assert [_HUE.sub("", it) for it in coloured[1:]] == [*plain[1:]]
    assert ("\x1b" in "".join(coloured[1:])) == (name in COLOURED)
