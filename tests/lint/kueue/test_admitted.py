"""What queues of a namespace admit beside its ResourceQuotas."""

from policygen.lint.kueue.admitted import admitted
from tests.objects import cluster

QUEUES = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: vision}
spec:
  resourceGroups:
  - coveredResources: [cpu, nvidia.com/gpu]
    flavors:
    - name: a100
      resources: [{name: cpu, nominalQuota: 32}, {name: nvidia.com/gpu, nominalQuota: 8}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: a100, namespace: vision}
spec: {clusterQueue: vision}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: all, namespace: vision}
spec: {hard: {requests.nvidia.com/gpu: 4, requests.cpu: 64, memory: 1Gi, nvidia.com/gpu: 1}}
"""
SECOND = """---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: a100, namespace: web}
spec: {clusterQueue: vision}
"""


def test_the_queues_of_a_namespace_add_up():
    found = {it.key: it for it in admitted(cluster(QUEUES)).values()}
    gpus, cpu = found.pop("requests.nvidia.com/gpu"), found.pop("requests.cpu")
    assert not found
    assert (gpus.amount, gpus.written, gpus.names) == (8, "8", ["ClusterQueue vision"])
    assert gpus.exceed(4)
    assert not cpu.exceed(64)


def test_a_queue_of_two_namespaces_does_not_count():
    assert not admitted(cluster(QUEUES + SECOND))
