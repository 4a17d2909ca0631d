"""`policygen diff` of two specs."""

import json
from io import StringIO
from pathlib import Path

import jsonschema
import pytest

from policygen.app.review import review
from policygen.core.errors import SpecError
from policygen.report import review as forms

SPEC = """\
apiVersion: policygen.dev/v1alpha1
kind: Platform
metadata: {name: lab}
---
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {name: a100}
spec:
  nodeSelector: {pool: a100}
  gpu: {product: NVIDIA-A100-SXM4-80GB, perNode: 8}
  capacity: {nodes: 8, nodeType: a2-ultragpu-8g}
---
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {name: l4}
spec:
  nodeSelector: {pool: l4}
  gpu: {product: NVIDIA-L4, perNode: 8}
  capacity: {nodes: 2, nodeType: g2-standard-96}
---
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata: {name: nlp}
spec:
  namespaces: [{name: nlp}]
  quotas:
  - {pool: a100, guarantee: 40, limit: 64}
  - {pool: l4, guarantee: 8}
---
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata: {name: vision}
spec:
  namespaces: [{name: vision}]
  quotas:
  - {pool: a100, guarantee: 24}
---
apiVersion: policygen.dev/v1alpha1
kind: Model
metadata: {name: chat}
spec:
  team: nlp
  resources: {gpus: 10}
  replicas: 4
  placement: {pools: [a100]}
"""
SHRINK = SPEC.replace("guarantee: 40", "guarantee: 32").replace("guarantee: 24", "guarantee: 32")


@pytest.fixture
def reviewed(tmp_path, monkeypatch):
    """The review of two texts."""
    monkeypatch.chdir(tmp_path)

    def run(old, new):
        (tmp_path / "old.yaml").write_text(old)
        (tmp_path / "new.yaml").write_text(new)
        return review("old.yaml", "new.yaml", {})

    return run


def shown(made, form=forms.text):
    page = StringIO()
    form(made, page)
    return page.getvalue()


def test_teams_see_what_they_lose_and_win(reviewed):
    spec = SHRINK.replace("gpus: 10", "gpus: 8").replace("replicas: 4", "replicas: 5")
    before = spec.replace("guarantee: 32, limit", "guarantee: 40, limit").replace(
        "guarantee: 32}", "guarantee: 24}"
    )
    made = reviewed(before, spec)
    lines = shown(made).splitlines()
    assert lines[:5] == [
        "pool a100",
        "  team nlp     guaranteed 40 → 32 nvidia.com/gpu, may still reach 64",
        "  team vision  guaranteed 24 → 32 nvidia.com/gpu, may still reach 64",
        "models",
        "  chat  1 of 5 replicas now run on borrowed GPUs",
    ]
    assert "objects: 0 added, 0 removed, 2 changed" in lines
    assert "  ~ ClusterQueue nlp.a100" in [line.rstrip() for line in lines]
    assert any("serving-on-borrowed-gpus" in line for line in lines)


def test_equal_specs_have_no_difference(reviewed):
    made = reviewed(SPEC, f"# a comment\n{SPEC}")
    assert not made.changed
    assert shown(made) == "no difference\n"
    assert shown(made, forms.markdown) == "## policygen: no difference\n"


def test_teams_pools_and_models_appear_and_disappear(reviewed):
    smaller = SPEC.replace("  - {pool: l4, guarantee: 8}\n", "").replace("nodes: 8", "nodes: 9")
    smaller = smaller[: smaller.index("---\napiVersion: policygen.dev/v1alpha1\nkind: Model")]
    there, back = shown(reviewed(SPEC, smaller)), shown(reviewed(smaller, SPEC))
    assert "64 → 72 nvidia.com/gpu for all teams" in there
    assert "team nlp  loses its quota: was guaranteed 8 nvidia.com/gpu, could reach 16" in there
    assert "  chat  removed\n" in there
    assert "  - ClusterQueue nlp.l4" in there
    assert "team nlp  new: guaranteed 8 nvidia.com/gpu, may reach 16" in back
    assert "  + ClusterQueue nlp.l4" in back


def test_a_model_that_moves_names_both_pools(reviewed):
    spec = SPEC.replace("gpus: 10", "gpus: 1").replace("replicas: 4", "replicas: 1")
    made = shown(reviewed(spec, spec.replace("pools: [a100]", "pools: [l4]")))
    assert made.startswith('models\n  chat  runs on pool "l4" instead of pool "a100"\n')


def test_a_replica_in_a_shared_queue_uses_the_guarantee_of_one_pool(reviewed):
    spec = (
        SPEC.replace(
            "{name: lab}\n", "{name: lab}\nspec:\n  sharedQueues: [{name: s, pools: [a100, l4]}]\n"
        )
        .replace("NVIDIA-L4", "NVIDIA-A100-SXM4-80GB")
        .replace("g2-standard-96", "a2-ultragpu-8g")
        .replace("gpus: 10", "gpus: 8")
        .replace("[a100]}", "[a100, l4]}")
    )
    models = [spec[spec.rindex("---") :].replace("chat", name) for name in ("a", "b")]
    old = spec[: spec.rindex("---")]
    full = old + models[0].replace("replicas: 4", "replicas: 1")
    full += models[1].replace("replicas: 4", "replicas: 5")
    lines = shown(reviewed(old, full)).splitlines()
    assert lines[1:3] == [f'  {it}  new: runs on shared queue "s"' for it in ("a", "b")]
    more = full.replace("replicas: 5", "replicas: 6")
    assert "  b  5 → 6 replicas; 1 of 6 replicas now run on borrowed GPUs" in shown(
        reviewed(full, more)
    )


def test_replicas_above_the_limit_are_not_called_borrowed(reviewed):
    spec = SPEC.replace("gpus: 10", "gpus: 8").replace("limit: 64", "limit: 48")
    lower = spec.replace("limit: 48", "limit: 40").replace("replicas: 4", "replicas: 6")
    made = shown(reviewed(spec, lower))
    above = "1 of 6 replicas are now above the limit of the team and never run"
    assert f"chat  4 → 6 replicas; {above}" in made
    assert "borrowed" not in made.partition("new warnings")[0]


def test_a_replica_that_takes_more_is_named(reviewed):
    eight = SPEC.replace("gpus: 10", "gpus: 8")
    made = shown(reviewed(eight, SPEC.replace("gpus: 10", "gpus: 4")))
    assert "a replica takes 4 nvidia.com/gpu instead of 8 nvidia.com/gpu" in made


def test_cpu_alone_is_shown_if_no_gpu_changes(reviewed):
    spec = SPEC.replace("nodeType: g2-standard-96}", "nodeAllocatable: {cpu: '90', memory: 300Gi}}")
    made = shown(reviewed(spec, spec.replace("cpu: '90'", "cpu: '88'")))
    assert "180 → 176 cores for all teams" in made


def test_json_is_as_its_schema_says(reviewed):
    schema = json.loads((Path(__file__).parents[2] / "schemas" / "review.schema.json").read_text())
    for old, new in ((SPEC, SHRINK), (SPEC, SPEC)):
        data = json.loads(shown(reviewed(old, new), forms.json))
        jsonschema.validate(data, schema)
    quota = data["pools"]
    assert quota == []
    (pool,) = json.loads(shown(reviewed(SPEC, SHRINK), forms.json))["pools"]
    assert [(it["team"], it["guarantee"]) for it in pool["quotas"]] == [
        ("nlp", ["40", "32"]),
        ("vision", ["24", "32"]),
    ]


def test_markdown_fits_a_comment(reviewed):
    made = shown(reviewed(SPEC, SHRINK), forms.markdown)
    assert made.startswith("## policygen: pool a100, ")
    assert "| team nlp | guaranteed 40 → 32 nvidia.com/gpu, may still reach 64 |" in made
    assert "<details><summary>objects" in made


def test_an_invalid_side_is_refused(reviewed):
    for old, new in ((SPEC, "a: 1\n"), ("a: [\n", SPEC)):
        with pytest.raises(SpecError):
            reviewed(old, new)
