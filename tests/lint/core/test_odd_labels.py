"""Labels of nodes with a typo, while flavors and pods agree on another label."""

from datetime import date

import pytest

from policygen.app import lint as app_lint
from policygen.app.requests import LintRequest

NODE = """
---
apiVersion: v1
kind: Node
metadata: {name: %s, labels: {%s}}
status: {allocatable: {cpu: 96, memory: 1000Gi, pods: 110, nvidia.com/gpu: 8}}
"""
JOB = """
---
apiVersion: batch/v1
kind: Job
metadata: {name: %s, namespace: vision}
spec:
  template:
    spec:
      restartPolicy: Never
      nodeSelector: {%s}
      containers:
      - name: rank
        image: registry.example.com/train:1
        resources: {limits: {nvidia.com/gpu: 4, cpu: 40, memory: 300Gi}}
"""
FLAVOR = """
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: %s}
spec: {nodeLabels: {%s}}
"""
A100 = "gpu-type: a100"
JOBS = JOB % ("one", A100) + JOB % ("two", A100)


def found(tmp_path, text):
    file = tmp_path / "in.yaml"
    file.write_text(text, "utf-8")
    report = app_lint.lint(
        LintRequest(manifests=(str(file),), partial=True), today=date(2026, 11, 29)
    )
    return [(it.rule.name, it.object, it.path) for it in report.findings]


@pytest.mark.parametrize(
    ("nodes", "users", "key"),
    [
        (["gpu-type: a10O", "gpu-type: a10O"], JOBS, "gpu-type"),
        (["gpu-type: a10O", A100], JOBS, "gpu-type"),
        (["gpu-type: a10O", A100], JOB % ("one", A100), "gpu-type"),
        (["gpu-type: a10O"], FLAVOR % ("a100", A100), "gpu-type"),
        (["gpu-type: a10O"], FLAVOR % ("large", A100) + JOB % ("one", A100), "gpu-type"),
        (["gpu-tpye: a100"], JOBS, "gpu-tpye"),
        (["gpu_type: a100"], JOBS, "gpu_type"),
        (["pool: trainnig"], JOBS.replace(A100, "pool: training"), "pool"),
    ],
)
def test_a_label_that_nothing_selects_is_one_finding_at_the_nodes(tmp_path, nodes, users, key):
    text = "".join(NODE % (f"n{i}", labels) for i, labels in enumerate(nodes)) + users
    [(rule, owner, path)] = found(tmp_path, text)
    assert (rule, owner, path.replace('["', ".").rstrip('"]')) == (
        "node-label-misspelt",
        "Node n0",
        f"metadata.labels.{key}",
    )


@pytest.mark.parametrize(
    ("nodes", "users"),
    [
        ([A100, "gpu-type: h100"], JOBS),
        (["pool: l40", "pool: l40s"], JOBS.replace(A100, "pool: l40")),
        (["team: team-a", "team: team-b"], JOBS.replace(A100, "team: team-a")),
        (["rack: r1", "rack: rl"], JOBS.replace(A100, "rack: r1") + JOB % ("three", "rack: rl")),
        (
            ["nvidia.com/gpu.product: A100", "nvidia.com/gpu.product: A10O"],
            JOBS.replace("gpu-type: a", "nvidia.com/gpu.product: A"),
        ),
    ],
)
def test_labels_that_can_be_intended_are_not_reported(tmp_path, nodes, users):
    text = "".join(NODE % (f"n{i}", labels) for i, labels in enumerate(nodes)) + users
    assert found(tmp_path, text) == []


@pytest.mark.parametrize("key", ["gpu-type: a10O", "gpu-tpye: a100"])
def test_a_typo_of_one_selector_stays_there(tmp_path, key):
    text = NODE % ("n0", A100) + JOB % ("one", key) + JOB % ("two", A100)
    [(rule, owner, _)] = found(tmp_path, text)
    assert (rule, owner) == ("pod-fits-no-node", "Job vision/one")
