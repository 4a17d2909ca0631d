"""Requests of pods are counted as Kueue's queues, quotas and LimitRanges count them."""

import textwrap
from datetime import date

import pytest

from policygen.app import lint
from policygen.app.requests import LintRequest
from tests.lint.test_one_fault_one_finding import QUEUE, QUOTA

LIMITS = """
apiVersion: v1
kind: LimitRange
metadata: {name: bounds, namespace: vision}
spec: {limits: [%s]}
"""
NO_GPU = QUEUE.replace(", nvidia.com/gpu]", "]").replace(
    "      - {name: nvidia.com/gpu, nominalQuota: 8}\n", ""
)
ASKS = "{requests: {cpu: 1, memory: 1Gi}}"
INIT = "initContainers: [{name: init, image: a%s}]"


def job(*, resources="{}", counts="", spec=""):
    text = f"""
    apiVersion: batch/v1
    kind: Job
    metadata: {{name: train, namespace: vision, labels: {{kueue.x-k8s.io/queue-name: a100}}}}
    spec:
      {counts or "parallelism: 1"}
      template:
        spec:
          restartPolicy: Never
          {spec or "priorityClassName: ''"}
          containers: [{{name: main, image: a, resources: {resources}}}]
    """
    return textwrap.dedent(text)


GPUS = job(
    resources="{requests: {cpu: 1, memory: 1Gi}, limits: {nvidia.com/gpu: 1}}",
    counts="parallelism: 16\n      completions: 4",
)

GPU = "{containers: [{name: a, image: a, resources: {limits: {cpu: 1, memory: 1Gi, nvidia.com/gpu: 1}}}]}"
LABELS = "{kueue.x-k8s.io/queue-name: a100}"


def job_set(replicas, parallelism, completions):
    return f"""
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {{name: train, namespace: vision, labels: {LABELS}}}
spec:
  replicatedJobs:
  - name: rank
    replicas: {replicas}
    template:
      spec: {{parallelism: {parallelism}, completions: {completions}, template: {{spec: {GPU}}}}}
"""


def leader_workers(replicas, size, leader=""):
    return f"""
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {{name: serve, namespace: vision, labels: {LABELS}}}
spec:
  replicas: {replicas}
  leaderWorkerTemplate:
    size: {size}
    workerTemplate: {{spec: {GPU}}}
    {leader}
"""


def ray(replicas, hosts):
    head = GPU.replace(", nvidia.com/gpu: 1", "")
    return f"""
apiVersion: ray.io/v1
kind: RayCluster
metadata: {{name: tune, namespace: vision, labels: {LABELS}}}
spec:
  headGroupSpec: {{rayStartParams: {{}}, template: {{spec: {head}}}}}
  workerGroupSpecs:
  - groupName: main
    replicas: {replicas}
    minReplicas: {replicas}
    maxReplicas: {replicas}
    numOfHosts: {hosts}
    rayStartParams: {{}}
    template: {{spec: {GPU}}}
"""


LEADER = f"leaderTemplate: {{spec: {GPU.replace(', nvidia.com/gpu: 1', '')}}}"
TOO_MUCH = {"workload-exceeds-quota"}
CASES = {
    "jobs of a JobSet": ([QUEUE, job_set(2, 4, 4)], set()),
    "more jobs of a JobSet": ([QUEUE, job_set(3, 3, 3)], TOO_MUCH),
    "no more pods of a JobSet than completions": (
        [QUEUE, job_set(2, 8, 4)],
        {"parallelism-exceeds-completions"},
    ),
    "each group waits by itself": ([QUEUE, leader_workers(4, 8)], {"replicas-exceed-queue"}),
    "a group of workers": ([QUEUE, leader_workers(1, 9)], TOO_MUCH),
    "a leader is one of its group": ([QUEUE, leader_workers(1, 9, LEADER)], set()),
    "all groups count in a quota": (
        [QUOTA % "requests.nvidia.com/gpu: 8", leader_workers(2, 5)],
        {"workload-exceeds-resource-quota"},
    ),
    "hosts of a Ray worker": ([QUEUE, ray(2, 4)], set()),
    "more hosts of a Ray worker": ([QUEUE, ray(3, 3)], TOO_MUCH),
    "no more pods than completions count in a queue": (
        [QUEUE, GPUS],
        {"parallelism-exceeds-completions"},
    ),
    "no more pods than completions count in a quota": (
        [QUOTA % "requests.nvidia.com/gpu: 4", GPUS],
        {"parallelism-exceeds-completions"},
    ),
    "no pods ask for nothing": (
        [QUEUE, job(resources="{requests: {cpu: 500}}", counts="parallelism: 0")],
        set(),
    ),
    "a default of zero": (
        [
            NO_GPU,
            LIMITS % "{type: Container, max: {nvidia.com/gpu: 8}, default: {nvidia.com/gpu: 0},"
            " defaultRequest: {nvidia.com/gpu: 0}}",
            job(resources=ASKS),
        ],
        set(),
    ),
    "a pod asks as a whole": (
        [QUEUE, job(spec="resources: {requests: {cpu: 4, memory: 8Gi}}")],
        set(),
    ),
    "a pod's own limit is its request": (
        [QUEUE, job(spec="resources: {limits: {cpu: 4, memory: 8Gi}}")],
        set(),
    ),
    "a pod asks for too much as a whole": (
        [QUEUE, job(resources=ASKS, spec="resources: {requests: {cpu: 400, memory: 8Gi}}")],
        {"workload-exceeds-quota"},
    ),
    "what a runtime takes": ([QUEUE, job(spec="overhead: {cpu: 4}")], set()),
    "a runtime takes too much": (
        [QUEUE, job(resources=ASKS, spec="overhead: {cpu: 400}")],
        {"workload-exceeds-quota"},
    ),
    "a quota of a pod that asks as a whole": (
        [QUOTA % "limits.memory: 1Ti", job(spec="resources: {requests: {cpu: 4}}")],
        set(),
    ),
    "a quota of init containers": (
        [QUOTA % "requests.cpu: 10", job(resources=ASKS, spec=INIT % "")],
        {"quota-without-defaults"},
    ),
    "a quota of init containers that ask": (
        [QUOTA % "requests.cpu: 10", job(resources=ASKS, spec=INIT % f", resources: {ASKS}")],
        set(),
    ),
    "two quotas that refuse alike": (
        [
            QUOTA % "requests.cpu: 10",
            (QUOTA % "cpu: 10").replace("compute", "other"),
            job(),
        ],
        {"quota-without-defaults"},
    ),
    "the bounds of init containers": (
        [
            LIMITS % "{type: Container, max: {memory: 2Gi}}",
            job(resources=ASKS, spec=INIT % ", resources: {limits: {memory: 4Gi}}"),
        ],
        {"limit-range-refuses-pods"},
    ),
    "the bounds of a pod": (
        [
            LIMITS % "{type: Pod, max: {memory: 2Gi}}",
            job(resources="{limits: {memory: 3Gi}}"),
        ],
        {"limit-range-refuses-pods"},
    ),
    "the bounds of a pod without a limit": (
        [LIMITS % "{type: Pod, max: {memory: 2Gi}}", job(resources=ASKS)],
        {"limit-range-refuses-pods"},
    ),
    "a pod within its bounds": (
        [
            LIMITS % "{type: Pod, min: {cpu: 100m}, max: {memory: 2Gi}}",
            job(resources="{requests: {cpu: 1}, limits: {memory: 1Gi}}"),
        ],
        set(),
    ),
    "a pod below its bounds": (
        [LIMITS % "{type: Pod, min: {cpu: 2}}", job(resources=ASKS)],
        {"limit-range-refuses-pods"},
    ),
    "a limit far above its request": (
        [
            LIMITS % "{type: Container, maxLimitRequestRatio: {cpu: 2}}",
            job(resources="{requests: {cpu: 1}, limits: {cpu: 3}}"),
        ],
        {"limit-range-refuses-pods"},
    ),
    "a ratio, and no limit": (
        [LIMITS % "{type: Container, maxLimitRequestRatio: {cpu: 2}}", job(resources=ASKS)],
        {"limit-range-refuses-pods"},
    ),
    "bounds that two LimitRanges have": (
        [
            LIMITS % "{type: Container, max: {memory: 512Mi}}",
            (LIMITS % "{type: Container, max: {memory: 256Mi}}").replace("bounds", "other"),
            job(resources=ASKS),
        ],
        {"limit-range-refuses-pods"},
    ),
    "bounds beside a LimitRange that is refused": (
        [
            LIMITS % "{type: Container, default: {memory: 4Gi}, max: {memory: 2Gi}}",
            (LIMITS % "{type: Container, max: {memory: 3Gi}}").replace("bounds", "other"),
            job(resources="{limits: {memory: 4Gi}}"),
        ],
        {"limit-range-amount-refused", "limit-range-refuses-pods"},
    ),
    "defaults of a LimitRange that is refused": (
        [
            LIMITS % "{type: Container, default: {memory: 4Gi}, max: {memory: 2Gi}}",
            (LIMITS % "{type: Container, max: {memory: 3Gi}}").replace("bounds", "other"),
            job(resources="{requests: {memory: 1Gi}}"),
        ],
        {"limit-range-amount-refused"},
    ),
}


@pytest.mark.parametrize(("texts", "wanted"), CASES.values(), ids=CASES)
def test_pods_are_counted_as_servers_count_them(texts, wanted, tmp_path):
    text = "\n---\n".join(texts)
    if "kind: LocalQueue" not in text:
        text = text.replace("kueue.x-k8s.io/queue-name", "example.com/nobodys")
    file = tmp_path / "manifests.yaml"
    file.write_text(text, "utf-8")
    report = lint.lint(LintRequest(manifests=(str(file),)), today=date(2026, 11, 21))
    assert report.complete
    found = [it.rule.name for it in report.findings]
    assert sorted(found) == sorted(wanted), [it.message for it in report.findings]
