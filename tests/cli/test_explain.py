"""The command explain: objects and their fields, wrong names, JSON, and completion."""

import json
import shutil
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

from policygen.app import explain_name
from policygen.app.requests import RenderRequest
from policygen.cli.main import cli
from policygen.core.errors import UsageError
from tests.cli.test_completion import completed

ROOT = Path(__file__).parents[2]
EXAMPLE = str(ROOT / "examples" / "kueue-team-tree")
QUEUE = "ClusterQueue/evaluation.a100"
SCHEMA = json.loads((ROOT / "schemas" / "explain.schema.json").read_text("utf-8"))


def explain(*arguments):
    done = CliRunner().invoke(cli, ["explain", *arguments], catch_exceptions=False)
    return done.stdout + done.stderr


@pytest.fixture
def in_example(monkeypatch, tmp_path):
    """A folder with the example as `spec`."""
    (tmp_path / "spec").mkdir()
    for path in Path(EXAMPLE).glob("*.yaml"):
        shutil.copy(path, tmp_path / "spec")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    "field",
    [
        "spec.resourceGroups[0].flavors[0].resources[0].nominalQuota",
        "spec.resourceGroups[0].flavors.a100.resources.cpu.nominalQuota",
        "spec…cpu.nominalQuota",
        "..cpu.nominalQuota",
        "spec...resources[0].nominalQuota",
    ],
)
def test_the_forms_of_a_field(field):
    shown = explain(QUEUE, field, EXAMPLE)
    assert "guarantee of team evaluation (cpu) = floor(765520m × 8 / 64) = 95690m\n" in shown
    assert f"guarantee of team evaluation = 8  ({EXAMPLE}/teams.yaml:48)" in shown
    assert "Source: https://kueue.sigs.k8s.io/docs/concepts/cluster_queue/" in shown
    assert "these teams can borrow it: language, vision, pretraining." in shown


def test_several_fields_are_listed():
    shown = explain(QUEUE, "spec..nominalQuota", EXAMPLE)
    assert [line.split()[0] for line in shown.splitlines() if line.startswith("spec.")] == [
        f"spec.resourceGroups[0].flavors[0].resources[{i}].nominalQuota" for i in range(3)
    ]


def test_a_field_with_fields_below_it_lists_them():
    shown = explain(QUEUE, "spec.preemption", EXAMPLE)
    assert shown.count("\nspec.preemption.") == 3


@pytest.mark.parametrize(
    "what, field, message",
    [
        (QUEUE, "spec.cohortNam", 'has no field spec.cohortNam; did you mean "spec.cohortName"?'),
        (QUEUE, "spec..nominalQota", 'did you mean "nominalQuota"?'),
        ("ClusterQueue/evaluaton.a100", "", 'did you mean "ClusterQueue/evaluation.a100"?'),
        ("ClusterQueu/x", "", 'kind "ClusterQueu" is unknown; did you mean "ClusterQueue"?'),
        ("CQ/x", "", 'kind "CQ" is unknown; known: ClusterQueue, '),
        ("ClusterQueue/x", "", "does not render ClusterQueue/x; known: evaluation.a100, "),
        ("Queue/x", "", 'the spec renders no Queue; did you mean "LocalQueue"?'),
    ],
)
def test_wrong_names_have_the_nearest(what, field, message):
    with pytest.raises(UsageError) as error:
        explain(what, *([field] if field else []), EXAMPLE)
    assert message in str(error.value)


def test_a_kind_needs_the_name_of_an_object():
    with pytest.raises(UsageError, match="is a kind; add the name of an object: ClusterQueue/NAME"):
        explain("clusterqueue")


@pytest.mark.parametrize(
    ("what", "message"),
    [
        (
            "clusterqueue.spec.cohortName",
            "add the name of an object: ClusterQueue/NAME spec.cohortName",
        ),
        ("Platfrom", 'a spec has no kind "Platfrom"; did you mean "Platform"?'),
        ("ResourcePol.spec", 'a spec has no kind "ResourcePol"; did you mean "ResourcePool"?'),
        ("Pod.spec", 'a spec has no kind "Pod"; known: '),
        ("cohort-of-on", 'rule "cohort-of-on" does not exist; did you mean "cohort-of-one"?'),
    ],
)
def test_a_name_that_is_no_rule_is_explained_by_its_form(what, message):
    with pytest.raises(UsageError) as error:
        explain(what)
    assert message in str(error.value)


def test_values_of_a_cluster_have_its_places():
    rings = str(ROOT / "examples" / "rings" / "policy.yaml")
    shown = explain("pool", "h100", rings, "--cluster", "staging")
    assert f"nodes of pool h100 = 2  ({rings}:15)" in shown
    assert f"of node type a3-highgpu-8g = 208000m  ({rings}:30; " in shown
    shown = explain("ClusterQueue/chat.h100", "apiVersion", rings, "--cluster", "staging")
    assert f"target version of kueue = 0.19  ({rings}:12)" in shown


def test_kinds_in_lower_case_and_objects_without_their_namespace():
    full = explain("LocalQueue/vision/a100", EXAMPLE)
    assert explain("localqueue/vision/a100", EXAMPLE) == full
    with pytest.raises(UsageError, match="several objects are LocalQueue/a100: "):
        explain("LocalQueue/a100", EXAMPLE)


@pytest.mark.usefixtures("in_example")
def test_the_folder_spec_is_the_default():
    assert "cohortName = " in explain(QUEUE, "spec.cohortName")
    assert explain(QUEUE) == explain(QUEUE, "spec")


def test_without_a_spec(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "name the SPEC, a file or a folder" in explain(QUEUE)


@pytest.mark.usefixtures("in_example")
def test_an_invalid_spec_has_no_warnings_about_options_that_no_user_wrote():
    with Path("spec/wrong.yaml").open("w") as file:
        file.write(
            "apiVersion: policygen.dev/v1alpha1\nkind: Team\nmetadata: {name: x}\nspec: {teem: y}\n"
        )
    shown = explain(QUEUE)
    assert "unknown-field" in shown
    assert "--with" not in shown


def test_json_is_as_its_schema_says():
    for field in ("spec..cpu.borrowingLimit", "spec.queueingStrategy", "spec"):
        data = json.loads(explain(QUEUE, field, EXAMPLE, "-f", "json"))
        jsonschema.validate(data, SCHEMA)
    one = json.loads(explain(QUEUE, "spec..cpu.borrowingLimit", EXAMPLE, "-f", "json"))
    assert one["fields"][0]["steps"][-1]["formula"] == "669830m - 95690m"
    assert one["borrowing"]["reclaims"] is True
    guarantee = next(it for it in one["dependents"] if it["place"]["line"] == 48)
    assert {"object": "Cohort language.a100", "path": guarantee["fields"][0]["path"]} in guarantee[
        "fields"
    ]


@pytest.mark.parametrize(
    "wrong",
    [("queue-stopped", EXAMPLE), ("team", "nlp", "--full"), (QUEUE, "--full", EXAMPLE)],
)
def test_options_without_meaning_are_refused(wrong):
    assert CliRunner().invoke(cli, ["explain", *wrong]).exit_code == 2


def test_a_field_of_a_users_template_is_named_as_such(tmp_path):
    kueue = tmp_path / "kueue"
    kueue.mkdir()
    text = '{% extends "builtin/kueue/local_queue.yaml.j2" %}\n{% block spec %}\nspec:\n'
    text += "  clusterQueue: {{ it.cluster_queue }}\n  stopPolicy: None\n{% endblock %}\n"
    (kueue / "local_queue.yaml.j2").write_text(text)
    arguments = ("LocalQueue/vision/a100", "spec.stopPolicy", EXAMPLE, "--templates", str(tmp_path))
    assert "A template of yours adds this field" in explain(*arguments)


def test_a_team():
    shown = explain("team", "evaluation", EXAMPLE)
    assert shown.startswith(f"Team evaluation ({EXAMPLE}/teams.yaml:35)\n")
    assert "  guarantee 8 nvidia.com/gpu, 95.69 cores, 1.27 TiB of memory\n" in shown
    assert "  runs model llama-3-70b-eval: 2 × 4 nvidia.com/gpu\n" in shown
    assert "  can borrow from language, vision, pretraining, the rest of a100\n" in shown
    assert (
        "limit of team language (cpu) = min(floor(765520m × 56 / 64), 765520m) = 669830m" in shown
    )


def test_a_pool():
    shown = explain("pool", "a100", EXAMPLE)
    assert f"  nodes of pool a100 = 8  ({EXAMPLE}/platform.yaml:37)\n" in shown
    assert (
        "  vision: guarantee 20, limit 40 nvidia.com/gpu, weight 1; model segmenter: 4 to 24"
        in shown
    )
    assert "Not used by models that run all the time\n  60 nvidia.com/gpu\n" in shown


@pytest.mark.parametrize(
    "example", ["ten-models", "volcano-training", "serving-slices", "articles"]
)
def test_each_name_of_an_example_is_explained(example):
    """A model runs on the pool that the plan has chosen for it."""
    made = explain_name.compiled(RenderRequest((str(ROOT / "examples" / example),), {}))
    placed = {it.model.name: it for it in made.plan.workloads.placements}
    for kind in explain_name.KINDS:
        for name in explain_name.names(made, kind):
            answer, _ = explain_name.explain(made, kind, name)
            assert answer.title.lower() == f"{kind} {name}"
            assert all(it.lines or it.steps for it in answer.sections)
            if kind == "model" and (chosen := placed[name].chosen):
                assert answer.sections[0].lines[0].startswith(f"on {chosen.place} ")
                assert answer.sections[1].steps[-1].value == str(chosen.size.units)


@pytest.mark.parametrize(
    "kind, near", [("team", "vision"), ("model", "segmenter"), ("pool", "a100")]
)
def test_an_unknown_name_has_the_nearest(kind, near):
    with pytest.raises(UsageError, match=f'did you mean "{near}"'):
        explain(kind, near + "x", EXAMPLE)


def test_a_field_of_a_spec():
    shown = explain("resourcepool.spec.gpu.perNode")
    assert shown.startswith(
        "ResourcePool.spec.gpu.perNode <integer>\n\n  Physical GPUs of one node"
    )
    assert "  Allowed: at least 1, at most 1024\n" in shown
    assert "Default: 1\n" in explain("Team.spec.quotas.weight")
    assert "quotas[].weight" not in explain("Team.spec.quotas[].weight")
    with pytest.raises(UsageError, match='spec has no field "gpus"; did you mean "gpu"'):
        explain("ResourcePool.spec.gpus")


def test_a_kind_of_the_spec_is_no_object():
    assert "write: policygen explain model chat\n" in explain("Model/chat", EXAMPLE)
    assert "write: policygen explain pool NAME\n" in explain("resourcepool/", EXAMPLE)


def test_a_value_that_the_spec_sets_is_not_assumed(tmp_path):
    spec = tmp_path / "spec.yaml"
    model = "apiVersion: policygen.dev/v1alpha1\nkind: Model\nmetadata: {name: m}\n"
    sizing = "spec: {team: vision, family: llama-3.1, size: 8b, sizing: {%s}}\n"
    spec.write_text(model + sizing % "concurrency: 2")
    assert "weight precision bf16" in explain("model", "m", EXAMPLE, str(spec))
    spec.write_text(model + sizing % "precision: bf16")
    shown = explain("model", "m", EXAMPLE, str(spec))
    assert "Assumed" in shown
    assert "weight precision" not in shown


@pytest.mark.usefixtures("in_example")
def test_completion():
    def values(line):
        return [it[1] for it in completed(f"policygen explain {line}")]

    assert values("ClusterQueue/ev") == ["ClusterQueue/evaluation.a100"]
    assert values("team ev") == ["evaluation"]
    assert values("ResourcePool.spec.gpu.per") == ["ResourcePool.spec.gpu.perNode"]
    assert values(f"{QUEUE} spec.pree") == [
        "spec.preemption.reclaimWithinCohort",
        "spec.preemption.withinClusterQueue",
        "spec.preemption.borrowWithinCohort.policy",
        "spec.pree",
    ]


def test_completion_finds_a_spec_of_another_name(tmp_path, monkeypatch):
    (tmp_path / "policy").mkdir()
    monkeypatch.chdir(tmp_path)
    assert "evaluation" not in str(completed("policygen explain team ev"))
    for path in Path(EXAMPLE).glob("*.yaml"):
        shutil.copy(path, tmp_path / "policy")
    Path("other.yaml").write_text("kind: ConfigMap\n")
    assert [it[1] for it in completed("policygen explain team ev")] == ["evaluation"]


LIMITED = """\
apiVersion: policygen.dev/v1alpha1
kind: Platform
metadata: {name: lab}
spec: {priorities: [{name: high, value: 10, description: 'say "hi"'}]}
---
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {name: v}
spec:
  nodeSelector: {pool: v}
  gpu: {product: h100-80gb}
  capacity: {nodes: 4, nodeType: a3-highgpu-8g}
  scheduler: volcano
---
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata: {name: lab}
spec: {namespaces: [{name: lab}], quotas: [{pool: v, guarantee: 4, limit: 6}]}
---
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata: {name: big}
spec: {namespaces: [{name: big}], quotas: [{pool: v, guarantee: 8, weight: 2}]}
"""


def test_a_share_names_the_limits_of_the_teams_that_leave_more(run, tmp_path):
    spec = tmp_path / "spec.yaml"
    spec.write_text(LIMITED)
    out = run("explain", "Queue/big.v", 'spec.deserved["nvidia.com/gpu"]', spec)[1]
    assert "  limit of team lab = 6  (" in out
    assert "  share of lab = 6 - 4 = 2  (all that its limit allows)\n" in out
    assert "  left for the other teams = 20 - 2 = 18\n" in out
    assert "  share by weight = floor(18 × 2 / 2) = 18  (" in out


def test_quotes_in_a_value_are_escaped(run, tmp_path):
    spec = tmp_path / "spec.yaml"
    spec.write_text(LIMITED)
    out = run("explain", "PriorityClass/high", "description", spec)[1]
    assert out.startswith('PriorityClass high description = "say \\"hi\\""\n')
