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


SERVING = a100(memory="80GB"), quotas("a", "pool: p, guarantee: 8, limit: 12")
MODEL = "workload: serving, resources: {gpus: 1, cpu: '8', memory: 64Gi}, replicas: 4"


def differs(run, tmp_path, changed, rules):
    """The findings of some rules, after a change of the model whose workload was rendered before."""
    spec, made = tmp_path / "spec.yaml", tmp_path / "made"
    spec.write_text("---\n".join(map(dedent, (*SERVING, models("a", m=MODEL)))))
    assert run("render", spec, "--with", "workloads", "-o", made)[0] == 0
    spec.write_text("---\n".join(map(dedent, (*SERVING, models("a", m=changed)))))
    _, out, _ = run("lint", spec, "--manifests", made, "-f", "json")
    return [it for it in json.loads(out)["findings"] if it["rule"] in rules]


def test_a_model_above_its_limit_has_no_second_finding_about_its_update(run, tmp_path):
    rules = {"model-above-limit", "serving-on-borrowed-gpus", "workload-differs-from-model"}
    found = differs(run, tmp_path, MODEL.replace("replicas: 4", "replicas: 40"), rules)
    assert [it["rule"] for it in found] == ["model-above-limit"]


def test_a_workload_with_less_cpu_than_a_model_above_its_share(run, tmp_path):
    changed = MODEL.replace("cpu: '8'", "cpu: '20'")
    [found] = differs(run, tmp_path, changed, {"workload-differs-from-model"})
    assert "; in the model, lower the request to 12 cores, or correct" in found["message"]


def test_gangs_that_exceed_implausible_nodes_are_one_finding(run, tmp_path):
    pool = a100(memory="80GB", more="      scheduler: volcano\n")
    parts = (
        pool,
        quotas("a", "pool: p, guarantee: 16"),
        models("a", m="resources: {gpus: 8, memory: 800Gi}, gang: {size: 2}, workload: training"),
    )
    spec, made = tmp_path / "spec.yaml", tmp_path / "made"
    text = "---\n".join(map(dedent, parts))
    spec.write_text(text)
    assert run("render", spec, "--with", "workloads", "-o", made)[0] == 0
    for it in made.glob("*queue*"):
        it.unlink()
    spec.write_text(text.replace("1100Gi", "1100Mi"))
    _, out, _ = run("lint", spec, "--manifests", made, "-f", "json")
    found = {it["rule"] for it in json.loads(out)["findings"]}
    assert "node-allocatable-implausible" in found
    assert not found & {"gang-exceeds-queue", "pod-fits-no-node", "model-fits-no-pool"}
