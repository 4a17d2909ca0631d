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


JOB = """---
apiVersion: batch/v1
kind: Job
metadata: {name: %s, namespace: vision%s}
spec:
  parallelism: 2
  template: {spec: {containers: [{name: a, image: a, resources: {limits: {nvidia.com/gpu: 3}}}]}}
"""


def test_the_amount_to_write_includes_workloads_in_no_queue():
    """Jobs in a queue are within its quota."""
    queued = JOB % ("a", ", labels: {kueue.x-k8s.io/queue-name: a100}")
    one, two = JOB % ("b", ""), JOB % ("c", "")
    found = [
        {it.key: it for it in admitted(cluster(QUEUES + jobs)).values()}["requests.nvidia.com/gpu"]
        for jobs in (queued, queued + one, one + two)
    ]
    assert [(it.amount, it.written) for it in found] == [(8, "8"), (8, "14"), (8, "20")]
    assert [it.others for it in found] == [
        "",
        ", and Job vision/b, which is in no queue of Kueue, needs 6 nvidia.com/gpu",
        ", and Job vision/b and Job vision/c, which are in no queue of Kueue, need 12 nvidia.com/gpu",
    ]
