"""Remedies name the cause, and what they propose is not the next fault."""

import pytest

from policygen.app import lint
from policygen.app.requests import LintRequest
from tests.lint.linting import findings
from tests.lint.test_plausible import TODAY
from tests.servers.pages import bad

NODE = """
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {pool: a}}
status:
  capacity: {nvidia.com/gpu: 8}
  allocatable: {nvidia.com/gpu: %d, cpu: 64, memory: 512Gi, pods: 110}
---
"""
FLAVORS = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: a}
spec: {nodeLabels: {pool: a}}
---
"""
QUEUE = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: %s}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors: [{name: a, resources: [{name: nvidia.com/gpu, nominalQuota: %d}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: %s, namespace: vision}
spec: {clusterQueue: %s}
---
"""
JOB = """
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: vision}
spec:
  suspend: %s
  template:
    spec:
      restartPolicy: Never
      containers: [{name: a, image: a, resources: {limits: {nvidia.com/gpu: 6}}}]
---
"""
VOLCANO = """
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: %s}
spec: {%s deserved: {nvidia.com/gpu: %d}, capability: {nvidia.com/gpu: 8}}
---
"""
SERVER = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: %s, namespace: vision}
spec:
  replicas: 2
  selector: {matchLabels: {app: %s}}
  template:
    metadata: {labels: {app: %s}}
    spec: {containers: [{name: a, image: a}]}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: %s, namespace: vision}
spec: {minAvailable: 2, selector: {matchLabels: {app: %s}}}
---
"""


def queue(name, quota):
    return QUEUE % (name, quota, name, name)


def server(name, selected):
    return SERVER % (name, name, name, name, selected)


@pytest.mark.parametrize(
    ("text", "rule", "end"),
    [
        (
            NODE % 0 + FLAVORS + queue("q", 8),
            "quota-exceeds-capacity",
            ("find out why Node n1 offers only 0 of 8 nvidia.com/gpu, for example in the device plugin, otherwise lower "
            "nominalQuota to 0, or add nodes"),
        ),
        (NODE % 8 + FLAVORS + queue("q", 9), "quota-exceeds-capacity", "have 8; lower nominalQuota to 8, or add nodes"),
        (
            NODE % 8 + FLAVORS + queue("eval", 2) + queue("train", 6) + JOB % "true",
            "workload-names-no-queue",
            ("so it stays suspended, because Kueue resumes only workloads with a queue; set label "
            "kueue.x-k8s.io/queue-name to a LocalQueue of its namespace, such as train or eval"),
        ),
        (
            NODE % 8 + VOLCANO % ("top", "", 4) + VOLCANO % ("a", "parent: top,", 4) + VOLCANO % ("b", "parent: top,", 3),
            "children-exceed-parent",
            "; raise deserved of Queue top to this sum",
        ),
        (
            NODE % 8 + VOLCANO % ("top", "", 4) + VOLCANO % ("a", "parent: top,", 4) + VOLCANO % ("b", "parent: top,", 3)
            + VOLCANO % ("other", "", 4),
            "children-exceed-parent",
            ("; lower deserved of the child queues to the amount of Queue top, because all nodes together have only "
            "8 nvidia.com/gpu and other queues have 4"),
        ),
        (
            server("tts", "tts") + server("whisper", "tts"),
            "budget-blocks-drain",
            "; the budget has the name of Deployment vision/whisper, whose pods it does not select; correct the selector",
        ),
        (server("tts", "tts"), "budget-blocks-drain", "; write maxUnavailable: 1 instead of minAvailable"),
    ],
)  # fmt: skip
def test_the_remedy(tmp_path, text, rule, end):
    file = tmp_path / "all.yaml"
    file.write_text(text.removesuffix("---\n"), "utf-8")
    report = lint.lint(LintRequest(manifests=(str(file),), only=(rule,)), today=TODAY)
    assert any(it.message.endswith(end) for it in report.findings), report.findings


GANG = "  - name: gang\n    enablePreemptable: false\n"
ACTIONS = 'actions: "allocate, backfill"'
PREEMPT = bad("preempt-never-runs").replace("allocate,", "allocate, preempt,")
WITH_CAPACITY = bad("preempt-never-runs").replace(
    "  - name: predicates\n", "  - name: predicates\n  - name: capacity\n"
)
RAY = bad("ray-replicas-out-of-bounds")
SERVING = """---
apiVersion: apps/v1
kind: Deployment
metadata: {name: chat, namespace: vision, labels: {kueue.x-k8s.io/queue-name: a100}}
spec:
  replicas: 2
  selector: {matchLabels: {app: chat}}
  template:
    metadata: {labels: {app: chat}}
    spec:
      containers:
      - name: main
        image: registry.example.com/chat:1
        resources: {requests: {cpu: 4, memory: 32Gi}, limits: {nvidia.com/gpu: 1}}
"""
WIDTH = "parallelism: %d\n  completions: %d"


@pytest.mark.parametrize(
    ("text", "rule", "remedy", "change"),
    [
        (
            PREEMPT.replace(GANG, ""),
            "volcano-plugin-missing",
            "; add gang to tier 1, beside conformance, with enablePreemptable: false",
            ("  - name: conformance\n", f"  - name: conformance\n{GANG}"),
        ),
        (
            WITH_CAPACITY.replace(ACTIONS, 'actions: "enqueue, allocate, backfill"'),
            "preempt-never-runs",
            "; add preempt and remove enqueue if urgent jobs must preempt others",
            ("enqueue, allocate,", "allocate, preempt,"),
        ),
        (
            bad("preempt-never-runs").replace("    enablePreemptable: false\n", ""),
            "preempt-never-runs",
            "; add preempt and write enablePreemptable: false at plugin gang if urgent jobs must preempt others",
            ('"allocate, backfill"\ntiers:\n- plugins:\n  - name: priority\n  - name: conformance\n  - name: gang\n',
            f'"allocate, preempt, backfill"\ntiers:\n- plugins:\n  - name: priority\n  - name: conformance\n{GANG}'),
        ),
        (
            RAY.replace("replicas: 4\n    minReplicas: 0", "replicas: 2\n    minReplicas: 3"),
            "ray-replicas-out-of-bounds",
            "; write minReplicas: 2",
            ("minReplicas: 3", "minReplicas: 2"),
        ),
        (
            RAY.replace("minReplicas: 0", "minReplicas: 5"),
            "ray-replicas-out-of-bounds",
            "; write maxReplicas: 5 and replicas: 5",
            ("replicas: 4\n    minReplicas: 5\n    maxReplicas: 2", "replicas: 5\n    minReplicas: 5\n    maxReplicas: 5"),
        ),
        (
            bad("workload-exceeds-quota") + SERVING,
            "workload-exceeds-quota",
            "; run fewer pods, and leave 2 nvidia.com/gpu to Deployment vision/chat, or raise the quota",
            (WIDTH % (16, 16), WIDTH % (6, 6)),
        ),
        (
            bad("workload-exceeds-resource-quota") + SERVING.replace(", labels: {kueue.x-k8s.io/queue-name: a100}", ""),
            "workload-exceeds-resource-quota",
            "; run fewer pods, and leave 2 nvidia.com/gpu to Deployment vision/chat, or raise the quota",
            (WIDTH % (8, 8), WIDTH % (2, 2)),
        ),
    ],
)  # fmt: skip
def test_the_remedy_leads_to_no_other_finding(tmp_path, text, rule, remedy, change):
    [(name, message)] = findings(tmp_path, text)
    assert (name, message[message.rindex("; ") :]) == (rule, remedy)
    assert change[0] in text
    assert findings(tmp_path, text.replace(*change)) == []
