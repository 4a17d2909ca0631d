"""LocalQueues in another namespace than the workloads that name them."""

from policygen.lint.kueue.misplaced_queues import misplaced_queues
from tests.objects import facts

QUEUES = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: vision}
spec:
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: vision}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: a100, namespace: %s}
spec: {clusterQueue: vision}
---
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: %s, labels: {kueue.x-k8s.io/queue-name: a100}}
spec: {template: {spec: {containers: [{name: c}]}}}
"""


def found(*namespaces):
    return [
        str(it) for users in misplaced_queues(facts(QUEUES % namespaces)).values() for it in users
    ]


def test_a_queue_beside_its_jobs_is_in_place():
    assert found("nlp", "vision") == ["Job vision/train"]
    assert found("vision", "vision") == []


def test_a_queue_that_would_not_take_the_jobs_there_either_stays():
    assert found("nlp", "web") == []
