"""Faults from which another one seems to follow: only the cause is reported."""

from pathlib import Path

import pytest

from tests.lint.kinds_of_workloads import manifests, subject
from tests.lint.linting import findings

CASES = Path(__file__).parent / "cases"
FOLDER = Path(__file__).parent / "batch_manifests"
BATCH, VOLCANO = ((FOLDER / f"{it}.yaml").read_text("utf-8") for it in ("kueue", "volcano"))
TOPOLOGY = """---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Topology
metadata: {name: pools}
spec: {levels: [{nodeLabel: pol}, {nodeLabel: kubernetes.io/hostname}]}
"""
LIMITS = """---
apiVersion: v1
kind: LimitRange
metadata: {name: defaults, namespace: vision}
spec:
  limits:
  - {type: Container, defaultRequest: {memory: 700Gi}, default: {memory: 64Gi}}
"""
SECOND = """---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: second, namespace: vision}
spec: {clusterQueue: vision}
"""
QUOTA = """---
apiVersion: v1
kind: ResourceQuota
metadata: {name: compute, namespace: vision}
spec: {hard: {requests.amd.com/gpu: 0}}
"""


def _of_batch(*edits, more=""):
    text = BATCH
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    return text + more


def _of_taint():
    taint = "{key: nvidia.com/gpu, value: present, effect: %s}"
    head, flavors = manifests("Job", subject("Job")).split("  nodeTaints: ", 1)
    return f"{head}  nodeTaints: {flavors.replace(taint % 'NoSchedule', taint % 'NoExecute', 1)}"


def _of_gpus():
    it = subject("Job")
    it.resources["requests"]["rdma/ib"] = 1
    it.resources["limits"]["rdma/ibp"] = 1
    text = manifests("Job", it).replace("pods: 110, ", "pods: 110, rdma/ib: 16, ")
    text = text.replace("memory, nvidia.com/gpu]", "memory, nvidia.com/gpu, rdma/ib]")
    quota = "      - {name: nvidia.com/gpu, nominalQuota: "
    return "\n".join(
        f"{it}\n      - {{name: rdma/ib, nominalQuota: 16}}" if it.startswith(quota) else it
        for it in text.splitlines()
    )


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (_of_taint(), "node-taint-not-tolerated"),
        (
            _of_batch(
                ("labels: {team: vision}", "labels: {team: vision team}"),
                ("matchLabels: {kubernetes.io/metadata.name: vision}", "matchLabels: {team: vision}"),
            ),
            "invalid-label",
        ),
        (
            _of_batch(
                ("nodeLabels: {pool: a100}\n", "nodeLabels: {pool: a100}\n  topologyName: pools\n"),
                more=TOPOLOGY,
            ),
            "node-without-topology-level",
        ),
        (_of_batch(("memory: 64Gi, ", ""), more=LIMITS), "limit-range-amount-refused"),
        (
            _of_batch(("nvidia.com/gpu: 2}}", "amd.com/gpu: 2}}"), more=QUOTA),
            "request-not-covered",
        ),
        (_of_gpus(), "pod-fits-no-node"),
        (
            _of_batch(
                ("labels: {team: vision}", "labels: {}"),
                ("matchLabels: {kubernetes.io/metadata.name: vision}", "matchLabels: {team: vision}"),
                more=SECOND,
            ),
            "namespace-not-selected",
        ),
        (
            VOLCANO.replace("resources: nvidia.com/gpu\n", "resources: nvidia.com/gpus\n"),
            "packing-counts-another-resource",
        ),
    ],
)  # fmt: skip
def test_only_the_cause_is_reported(tmp_path, text, rule):
    found = findings(tmp_path, text)
    assert [name for name, _ in found] == [rule], found


@pytest.mark.parametrize(
    "case",
    [
        "autoscaler-refused/bad-09",
        "gpu-quota-unusable/bad-03",
        "guarantee-above-deserved/bad-03",
        "job-index-refused/bad-04",
        "limits-without-cohort/bad-02",
        "namespace-not-selected/bad-03",
        "pod-group-inconsistent/bad-05",
        "priority-class-refused/bad-04",
        "queue-affinity-ignored/bad-02",
        "queue-weight-ignored/bad-02",
        "replicas-exceed-nodes/bad-07",
        "system-namespaces-managed/bad-02",
        "volcano-configuration-not-loaded/bad-05",
    ],
)
def test_one_cause_is_one_finding(tmp_path, case):
    found = findings(tmp_path, (CASES / f"{case}.yaml").read_text("utf-8"))
    assert [name for name, _ in found] == [case.partition("/")[0]], found


def test_a_level_with_capital_letters_is_one_finding(tmp_path):
    text = _of_batch(
        ("nodeLabels: {pool: a100}\n", "nodeLabels: {pool: a100}\n  topologyName: pools\n"),
        more=TOPOLOGY.replace("{nodeLabel: pol}, ", "").replace("kubernetes.io", "Kubernetes.io"),
    )
    assert [name for name, _ in findings(tmp_path, text)] == ["invalid-value"]
