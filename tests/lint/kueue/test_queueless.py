"""Workloads without a queue in a namespace with queues."""

from policygen.lint.kueue.queueless import queueless
from tests.objects import facts

TEXT = """
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: a100}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: c}
spec: {resourceGroups: [{coveredResources: [nvidia.com/gpu], flavors: [{name: a100}]}]}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: q, namespace: n}, spec: {clusterQueue: c}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: j, namespace: %s}
spec: {template: {spec: {containers: [{resources: {limits: {nvidia.com/gpu: 2}}}]}}}
"""


def test_the_queues_are_those_of_the_namespace():
    (found,) = queueless(facts(TEXT % "n"))
    assert found.resource == "nvidia.com/gpu"
    assert [queue.name for queue in found.queues] == ["c"]
    assert queueless(facts(TEXT % "other")) == ()
