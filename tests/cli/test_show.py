"""The command show: tables, the tree of teams, JSON and Markdown."""

import json
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner
from markdown_it import MarkdownIt

from policygen.cli.main import cli

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(path.parent for path in (ROOT / "examples").glob("*/expected"))
SCHEMA = json.loads((ROOT / "schemas" / "show.schema.json").read_text("utf-8"))
POOL = """
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {name: p}
spec:
  nodeSelector: {pool: p}
  gpu: {product: h100-80gb}
  capacity: {nodes: 4, nodeType: a3-highgpu-8g}
"""


def show(*arguments, given=None):
    done = CliRunner().invoke(cli, ["show", *map(str, arguments)], input=given)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda it: it.name)
def test_json_is_as_its_schema_says(path):
    data = json.loads(show(path, "-f", "json"))
    jsonschema.validate(data, SCHEMA)
    assert data["pools"]


def test_amounts_and_borrowing():
    (pool,) = json.loads(show(ROOT / "examples" / "kueue-team-tree", "-f", "json"))["pools"]
    gpu = "nvidia.com/gpu"
    assert (pool["available"][gpu], pool["notGuaranteed"][gpu], pool["free"][gpu]) == (
        "64",
        "12",
        60,
    )
    teams = {it["name"]: it for it in pool["teams"]}
    assert list(teams) == ["language", "language.own", "evaluation", "pretraining", "vision"]
    assert teams["language"]["free"] is None  # its children have its guarantee
    vision = teams["vision"]
    assert (vision["guarantee"][gpu], vision["limit"][gpu], vision["free"][gpu]) == ("20", "40", 16)
    assert vision["borrowsFrom"] == ["language", "evaluation", "pretraining", "the rest of a100"]
    assert vision["evicts"] == ["language", "evaluation", "pretraining"]
    assert vision["models"] == [
        {"model": "segmenter", "least": 4, "most": 24, "always": 4, "devices": {gpu: 1}}
    ]


def test_replicas_above_a_limit_use_nothing():
    """They wait, so of 2 × 8 GPUs the limits leave 8, and the limit of the parent 6."""
    models = "".join(
        f"""
---
apiVersion: policygen.dev/v1alpha1
kind: Model
metadata: {{name: {team}}}
spec: {{team: {team}, resources: {{gpus: 1}}, replicas: 8}}
"""
        for team in ("b", "c")
    )
    team = """
---
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata: {name: %s}
spec: {%s quotas: [{pool: p, limit: %d}]}
"""
    teams = (
        team % ("a", "", 6)
        + team % ("b", "parent: a, namespaces: [{name: b}],", 4)
        + team % ("c", "parent: a, namespaces: [{name: c}],", 4)
    )
    (pool,) = json.loads(show("-", "-f", "json", given=POOL + teams + models))["pools"]
    assert pool["free"] == {"nvidia.com/gpu": 32 - 6}


def test_deep_trees_are_drawn():
    team = "\n---\napiVersion: policygen.dev/v1alpha1\nkind: Team\nmetadata: {name: %s}\nspec: {%s quotas: [{pool: p}]}"
    leaf = "namespaces: [{name: %s}],"
    teams = [
        team % ("a", ""),
        team % ("b", "parent: a,"),
        team % ("c", "parent: b," + leaf % "c"),
        team % ("d", "parent: b," + leaf % "d"),
        team % ("e", "parent: a," + leaf % "e"),
        team % ("f", leaf % "f"),
    ]
    lines = show("-", given=POOL + "".join(teams)).splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("TEAM"))
    assert [line[: line.index(" 0 ")].rstrip() for line in lines[start + 1 : start + 7]] == [
        "a",
        "├─ b",
        "│  ├─ c",
        "│  └─ d",
        "└─ e",
        "f",
    ]


def test_a_pool_without_teams_is_shown():
    shown = show("-", given=POOL)
    assert "Pool p (kueue): 32 nvidia.com/gpu (32 not guaranteed, 32 not used by models)" in shown
    assert "Pool p" in show("-", "-f", "markdown", given=POOL).replace("\\", "")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda it: it.name)
def test_markdown_has_a_row_for_each_row_of_the_text(path):
    page = MarkdownIt().enable("table").render(show(path, "-f", "markdown"))
    pools = json.loads(show(path, "-f", "json"))["pools"]
    heads = sum(bool(it["teams"]) for it in pools)
    rows = sum(len(it["teams"]) * len(it["free"]) for it in pools)
    assert page.count("<tr>") == heads + rows


def test_models_that_never_run_at_once_are_named(tmp_path):
    head = "\n---\napiVersion: policygen.dev/v1alpha1\nkind: %s\nmetadata: {name: %s}\nspec: %s"
    quotas = "{namespaces: [{name: t}], quotas: [{pool: p, guarantee: 4, limit: 8}]}"
    models = [head % ("Model", f"m{i}", "{team: t, resources: {gpus: 5}}") for i in (1, 2)]
    spec = tmp_path / "spec.yaml"
    spec.write_text(POOL + head % ("Team", "t", quotas) + "".join(models))
    said = (
        'the models of team "t" on pool "p" need at least 10 nvidia.com/gpu together (m1 5, m2 5)'
    )
    assert f"\nWarning: {said}" in show(spec)
    assert f"\n**Warning:** {said}" in show(spec, "-f", "markdown").replace("\\", "")
    data = json.loads(show(spec, "-f", "json"))
    jsonschema.validate(data, SCHEMA)
    (warning,) = data["warnings"]
    assert warning.startswith(said)
    for name in (("model", "m1"), ("model", "m2"), ("team", "t")):
        done = CliRunner().invoke(cli, ["explain", *name, str(spec)])
        assert f"  {said}" in done.stdout.partition("\nWarnings\n")[2]


def test_an_invalid_spec_is_refused():
    done = CliRunner().invoke(cli, ["show", "-"], input=POOL.replace("nodes: 4", "nodes: many"))
    assert (done.exit_code, done.stdout) == (2, "")
