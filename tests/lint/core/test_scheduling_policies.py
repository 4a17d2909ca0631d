"""Only training jobs of Kubeflow have a schedulingPolicy."""

from policygen.lint.core.scheduling_policies import scheduling_policies
from tests.objects import cluster

TEXT = """
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: moe, namespace: vision}
spec:
  runPolicy: {schedulingPolicy: {queue: vision}}
---
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: plain, namespace: vision}
spec: {runPolicy: {schedulingPolicy: {}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: other, namespace: vision}
spec: {runPolicy: {schedulingPolicy: {queue: vision}}}
"""


def test_the_policies_with_their_places():
    [policy] = scheduling_policies(cluster(TEXT))
    assert (policy.workload.name, policy.data) == ("moe", {"queue": "vision"})
    assert policy.at("queue").path == ("spec", "runPolicy", "schedulingPolicy", "queue")
