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
        "priority-class-refused/bad-05",
        "queue-affinity-ignored/bad-02",
        "queue-weight-ignored/bad-02",
        "quota-scopes-refused/bad-04",
        "quota-of-one-node/bad-02",
        "replicas-exceed-nodes/bad-07",
        "resource-quota-below-queue/bad-03",
        "system-namespaces-managed/bad-02",
        "volcano-configuration-not-loaded/bad-05",
    ],
)
def test_one_cause_is_one_finding(tmp_path, case):
    found = findings(tmp_path, (CASES / f"{case}.yaml").read_text("utf-8"))
    assert [name for name, _ in found] == [case.partition("/")[0]], found


@pytest.mark.parametrize(
    ("limit", "queues", "usable"),
    [
        ("", ["nlp and ClusterQueue vision can each"], 8),
        (", borrowingLimit: 0", ["vision can", "nlp can"], 2),
        (", lendingLimit: 0", ["vision can", "nlp can"], 2),
    ],
)
def test_queues_share_a_scarce_quota_only_without_limits(tmp_path, limit, queues, usable):
    """The workloads of one queue can use more GPUs than those of the other one, which needs the larger quota."""
    text = (CASES / "gpu-quota-unusable/bad-03.yaml").read_text("utf-8")
    for amount in (16, 8):
        text = text.replace(f"nominalQuota: {amount}}}", f"nominalQuota: {amount}{limit}}}")
    if not limit:
        text = text.replace("limits: {cpu: 8", "limits: {cpu: 4", 1)
    found = [it for name, it in findings(tmp_path, text) if name == "gpu-quota-unusable"]
    assert [it.partition(" have")[0] for it in found] == [f"ClusterQueue {it}" for it in queues]
    assert all(f"workloads can use only {usable} of" in it for it in found)


def test_a_level_with_capital_letters_is_one_finding(tmp_path):
    text = _of_batch(
        ("nodeLabels: {pool: a100}\n", "nodeLabels: {pool: a100}\n  topologyName: pools\n"),
        more=TOPOLOGY.replace("{nodeLabel: pol}, ", "").replace("kubernetes.io", "Kubernetes.io"),
    )
    assert [name for name, _ in findings(tmp_path, text)] == ["invalid-value"]


OWN_QUEUE = """---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {{name: {0}}}
spec:
  cohortName: company
  namespaceSelector: {{matchLabels: {{kubernetes.io/metadata.name: {0}}}}}
  preemption: {{reclaimWithinCohort: Any}}
  resourceGroups:
  - coveredResources: [cpu, memory, nvidia.com/gpu]
    flavors:
    - name: h100
      resources:
      - {{name: cpu, nominalQuota: 192}}
      - {{name: memory, nominalQuota: {1}}}
      - {{name: nvidia.com/gpu, nominalQuota: 16}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {{name: main, namespace: {0}}}
spec: {{clusterQueue: {0}}}
---
apiVersion: batch/v1
kind: Job
metadata: {{name: train, namespace: {0}, labels: {{kueue.x-k8s.io/queue-name: main}}}}
spec:
  parallelism: 2
  completions: 2
  completionMode: Indexed
  suspend: true
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: example.com/train:1
        resources: {{requests: {{cpu: 44, memory: {2}}}, limits: {{nvidia.com/gpu: 8}}}}
"""
COHORT = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: h100}
spec: {nodeLabels: {pool: h100}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Cohort
metadata: {name: company}
"""


def test_a_quota_in_the_wrong_unit_is_one_finding_for_all_that_borrow(tmp_path):
    """The other queue of the cohort also lacks the memory that this quota was meant to lend."""
    other = OWN_QUEUE.format("speech", "2000Gi", "800Gi")
    wrong = COHORT + OWN_QUEUE.format("research", "2000Mi", "900Gi") + other
    [(name, message)] = findings(tmp_path, wrong)
    assert (name, "ClusterQueue research can have" in message) == ("gpu-quota-unusable", True)
    assert findings(tmp_path, wrong.replace("2000Mi", "2000Gi")) == []
