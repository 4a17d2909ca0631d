"""The pods of the templates of a workload that must run at the same time."""

import pytest

from policygen.lint.core.gang_pods import pods_together
from policygen.lint.core.node_sums import SumExcess, gang_sums
from policygen.lint.core.rules import replicas_exceed_nodes
from tests.objects import facts

NODES = "".join(
    f"""
apiVersion: v1
kind: Node
metadata: {{name: n{i}}}
status: {{allocatable: {{cpu: 96, nvidia.com/gpu: 8}}}}
---
"""
    for i in range(2)
)
POD = "{spec: {containers: [{name: a, image: a, resources: {limits: {nvidia.com/gpu: 8}}}]}}"
VOLCANO = """
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: a, namespace: n}
spec:
  %s
  tasks:
  - {name: m, replicas: 1, template: POD}
  - {name: w, replicas: 2, template: POD%s}
"""
JOB_SET = """
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: a, namespace: n}
spec:
  replicatedJobs:
  - {name: a, template: {spec: {template: POD}}}
  - {name: b, %s, template: {spec: {parallelism: 2, completions: 2, template: POD}}}
"""
GROUPS = """
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: a, namespace: n}
spec:
  replicas: %d
  leaderWorkerTemplate: {size: 3, leaderTemplate: POD, workerTemplate: POD}
"""
RAY = """
apiVersion: ray.io/v1
kind: RayCluster
metadata: {name: a, namespace: n}
spec:
  %s
  headGroupSpec: {template: POD}
  workerGroupSpecs: [{groupName: g, replicas: 2, %s, template: POD}]
"""
TORCH = """
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: a, namespace: n}
spec:
  %s
  pytorchReplicaSpecs:
    Master: {replicas: 1, template: POD}
    Worker: {replicas: 2, template: POD}
"""


def read(text):
    return facts(NODES + text.replace("POD", POD))


@pytest.mark.parametrize(
    ("text", "pods"),
    [
        (VOLCANO % ("minAvailable: 3", ""), [1, 2]),
        (VOLCANO % ("queue: a", ""), [1, 2]),
        (VOLCANO % ("queue: a", ", minAvailable: 1"), [1, 1]),
        (VOLCANO % ("minAvailable: 2", ""), []),
        (VOLCANO % ("queue: a", ", dependsOn: {name: [m]}"), []),
        (JOB_SET % "dependsOn: [{name: a, status: Ready}]", [1, 2]),
        (JOB_SET % "dependsOn: [{name: a, status: Complete}]", []),
        (GROUPS % 1, [1, 2]),
        (RAY % ("rayVersion: '2'", "maxReplicas: 2"), [1, 2]),
        (RAY % ("enableInTreeAutoscaling: true", "maxReplicas: 2"), []),
        (RAY % ("rayVersion: '2'", "suspend: true"), []),
        (TORCH % "runPolicy: {suspend: false}", [1, 2]),
        (TORCH % "elasticPolicy: {minReplicas: 1}", []),
        (TORCH % "runPolicy: {schedulingPolicy: {minAvailable: 1}}", []),
    ],
)
def test_pods_that_must_run_at_the_same_time(text, pods):
    given = read(text)
    [workload] = given.cluster.workloads
    assert list(pods_together(workload)) == pods
    excesses = [(type(it), it.requested, it.have) for it in gang_sums(given)]
    assert excesses == ([(SumExcess, 8 * sum(pods), 16)] if sum(pods) > 2 else [])


def test_the_finding_counts_all_templates():
    [hit] = replicas_exceed_nodes.check(read(TORCH % "nprocPerNode: '1'"))
    assert hit.message == (
        "the pods of PyTorchJob n/a together request 24 nvidia.com/gpu, but the 2 nodes that can take "
        "them have 16; run fewer pods, request less, or add nodes"
    )


def test_a_template_without_room_of_its_own_is_reported_alone():
    given = read((TORCH % "nprocPerNode: '1'").replace("replicas: 2", "replicas: 3"))
    assert gang_sums(given) == ()
    [hit] = replicas_exceed_nodes.check(given)
    assert "only 2 of the 3 pods" in hit.message
