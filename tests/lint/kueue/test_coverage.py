"""Requests of queued workloads that their queue does not cover."""

from policygen.lint.kueue.coverage import covered, pod_requests, requests_by_workload, uncovered
from tests.objects import facts

QUEUE = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: c}
spec: {resourceGroups: [{coveredResources: [cpu, %s]}]}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: q, namespace: n}, spec: {clusterQueue: c}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: j, namespace: n, labels: {kueue.x-k8s.io/queue-name: q}}
spec: {template: {spec: {containers: [{resources: {limits: {cpu: 1, memory: 0, nvidia.com/gpu: 2}}}]}}}
"""
CONFIGURATION = """---
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
resources: {excludeResourcePrefixes: [nvidia.com/]}
"""


def test_amounts_above_zero_are_counted():
    (request,) = pod_requests(facts(QUEUE % "memory"))
    assert dict(request.written) == dict(request.counted) == {"cpu": 1, "nvidia.com/gpu": 2}
    assert covered(request.queue) == {"cpu", "memory"}


def test_what_the_queue_does_not_cover():
    it = facts(QUEUE % "memory")
    ((request,),) = requests_by_workload(it)
    assert uncovered(it, request) == ["nvidia.com/gpu"]


def test_a_configuration_decides_what_counts():
    it = facts(QUEUE % "memory" + CONFIGURATION)
    (request,) = pod_requests(it)
    assert dict(request.written) == {"cpu": 1}
    assert uncovered(it, request) == []


def test_without_a_configuration_another_name_of_the_vendor_may_be_the_device():
    it = facts(QUEUE % "nvidia.com/devices")
    (request,) = pod_requests(it)
    assert uncovered(it, request) == []


def test_a_local_queue_default_takes_jobs_without_a_queue_name():
    text = QUEUE.replace("metadata: {name: q,", "metadata: {name: default,")
    text = text.replace(", labels: {kueue.x-k8s.io/queue-name: q}", "") % "memory"
    deployment = "---" + text.rsplit("---", 1)[1].replace("kind: Job", "kind: Deployment")
    deployment = deployment.replace("batch/v1", "apps/v1")
    (request,) = pod_requests(facts(text + deployment))
    assert str(request.workload) == "Job n/j"
    of_owner = text.replace("name: j,", "name: j, ownerReferences: [{kind: JobSet, name: s}],")
    assert pod_requests(facts(of_owner)) == ()
    off = "---\n{apiVersion: config.kueue.x-k8s.io/v1beta2, kind: Configuration, %s}\n"
    assert pod_requests(facts(text + off % "integrations: {frameworks: [pod]}")) == ()
    gate = off % "featureGates: {LocalQueueDefaulting: false}"
    assert [len(pod_requests(facts(text + gate, kueue=it))) for it in (16, 19)] == [0, 1]
