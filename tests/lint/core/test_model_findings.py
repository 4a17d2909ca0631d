"""A fault that a spec and the workloads of its models both have is one finding."""

import json
from textwrap import dedent

from tests.plan.model_specs import a100, models, quotas

NODES = {"models-exceed-nodes", "replicas-exceed-nodes", "workloads-exceed-nodes"}
BOTH = {"m": "resources: {gpus: 5}, replicas: 8", "o": "resources: {gpus: 4}, replicas: 2"}


def found(run, tmp_path, change=("", "")):
    """The findings about nodes, of a spec and of its rendered workloads after a change."""
    parts = [a100(), quotas("a", "pool: p, guarantee: 64"), models("a", **BOTH)]
    spec, made = tmp_path / "spec.yaml", tmp_path / "made"
    spec.write_text("---\n".join(map(dedent, parts)))
    assert run("render", spec, "--with", "workloads", "-o", made)[0] == 0
    for it in made.glob("deployment.*"):
        it.write_text(it.read_text().replace(*change) if change[0] else it.read_text())
    _, out, _ = run("lint", spec, "--manifests", made, "-f", "json")
    return sorted(it["rule"] for it in json.loads(out)["findings"] if it["rule"] in NODES)


def test_the_workloads_of_reported_models_have_no_second_finding(run, tmp_path):
    assert found(run, tmp_path) == ["models-exceed-nodes"]


def test_another_workload_has_its_own(run, tmp_path):
    change = ("policygen.dev/model: o", "policygen.dev/model: other")
    assert found(run, tmp_path, change) == ["models-exceed-nodes", "workloads-exceed-nodes"]
