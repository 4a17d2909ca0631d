"""GPU pods that another scheduler's nodes take, by the pools of a spec."""

from datetime import date

import pytest

from policygen.app import lint as app_lint
from policygen.app.requests import LintRequest
from tests.examples_of_rules import examples

SPEC = "examples/three-schedulers/policy.yaml"
"""Pools of Kueue, Volcano and kube-scheduler, each with a taint of its own."""
RULE = "two-schedulers-one-pool"
POD = """\
---
apiVersion: v1
kind: Pod
metadata: {{name: one, namespace: {namespace}}}
spec:
  {fields}
  tolerations: [{{operator: Exists}}]
  containers:
  - name: a
    image: a:1
    resources: {{requests: {{cpu: 1, memory: 1Gi}}, limits: {{nvidia.com/gpu: 1}}}}
"""


@pytest.fixture
def messages(tmp_path):
    def run(namespace, fields):
        file = tmp_path / "one.yaml"
        file.write_text(POD.format(namespace=namespace, fields=fields), "utf-8")
        request = LintRequest((SPEC,), manifests=(str(file),))
        found = app_lint.lint(request, today=date(2026, 11, 21)).findings
        return [it.message for it in found if it.rule.name == RULE]

    return run


def test_the_finding_is_at_the_pod_without_a_scheduler_and_not_at_the_other(tmp_path):
    page = examples(RULE)[0].text
    file = tmp_path / "one.yaml"
    for text in (page, "\n---\n".join(reversed(page.split("\n---\n")))):
        file.write_text(text, "utf-8")
        found = app_lint.lint(
            LintRequest(manifests=(str(file),)), today=date(2026, 11, 21)
        ).findings
        assert [it.object for it in found if it.rule.name == RULE] == ["Pod vision/notebook"]


QUEUED = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: a100}
spec: {nodeLabels: {pool: a100}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: nlp}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu, memory, nvidia.com/gpu]
    flavors:
    - name: a100
      resources: [{name: cpu, nominalQuota: 9}, {name: memory, nominalQuota: 9Gi}, {name: nvidia.com/gpu, nominalQuota: 9}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: a100, namespace: nlp}
spec: {clusterQueue: nlp}
---
apiVersion: batch/v1
kind: Job
metadata: {name: queued, namespace: nlp, labels: {kueue.x-k8s.io/queue-name: a100}}
spec:
  template:
    spec:
      restartPolicy: Never
      nodeSelector: {disk: ssd}
      containers: [{name: a, image: a:1, resources: {requests: {cpu: 1, memory: 1Gi}, limits: {nvidia.com/gpu: 1}}}]
"""


def found_beside(tmp_path, queued, fields):
    """The objects of the findings about a job of Kueue and a pod of another scheduler, without nodes."""
    file = tmp_path / "one.yaml"
    pod = POD.format(namespace="nlp", fields=f"schedulerName: volcano\n  {fields}")
    file.write_text(queued + pod, "utf-8")
    request = LintRequest(manifests=(str(file),))
    found = app_lint.lint(request, today=date(2026, 11, 21)).findings
    return [it.object for it in found if it.rule.name == RULE]


@pytest.mark.parametrize(("pool", "count"), [("h100", 0), ("a100", 1)])
def test_flavors_select_nodes_beside_the_selector_of_the_job(tmp_path, pool, count):
    """Without nodes, labels of the flavor tell the nodes of both apart."""
    fields = f"nodeSelector: {{disk: ssd, pool: {pool}}}"
    assert len(found_beside(tmp_path, QUEUED, fields)) == count


def test_a_pod_without_a_selector_also_runs_on_the_nodes_of_a_flavor(tmp_path):
    """The pod is at fault, because its nodes are not limited."""
    queued = QUEUED.replace("      nodeSelector: {disk: ssd}\n", "")
    assert found_beside(tmp_path, queued, "nodeSelector: {}") == ["Pod nlp/one"]


@pytest.mark.parametrize(
    ("namespace", "fields", "message"),
    [
        (
            "product-live",
            "",
            (
                "scheduler default-scheduler can place pods of Pod product-live/one on nodes of pool training-h100, where "
                "scheduler volcano places pods, so both can assign one GPU; set nodeSelector to the labels of one "
                "of its own pools"
            ),
        ),
        (
            "lab",
            "schedulerName: volcano",
            (
                "scheduler volcano can place pods of Pod lab/one on nodes of pool batch-a100, where scheduler "
                "mixed.binpack places pods, so both can assign one GPU; set nodeSelector to the labels of "
                "pool training-h100"
            ),
        ),
        (
            "product-live",
            "nodeSelector: {pool: training-h100}",
            (
                "scheduler default-scheduler can place pods of Pod product-live/one on nodes of pool training-h100, where "
                "scheduler volcano places pods, so both can assign one GPU; write schedulerName: volcano, or a nodeSelector "
                "for another pool"
            ),
        ),
        ("product-live", "nodeSelector: {pool: serving-l4}", None),
        ("lab", "schedulerName: volcano\n  nodeSelector: {pool: training-h100}", None),
        ("product-live", "nodeSelector: {a-label-that-no-pool-lists: x}", None),
        ("data", "", None),  # Kueue would choose the nodes, and workload-names-no-queue reports it
    ],
)
def test_pods_keep_to_the_nodes_of_their_scheduler(messages, namespace, fields, message):
    assert messages(namespace, fields) == ([message] if message else [])
