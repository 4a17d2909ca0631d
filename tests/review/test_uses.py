"""Who uses an object that a change removes. tests/servers/test_removal.py shows that the effects are true."""

import pytest

from policygen.core.finding import At
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.object import Object
from policygen.review.uses import cluster_change, uses
from tests.client.looks import snapshot

KUEUE = "kueue.x-k8s.io/v1beta2"
VOLCANO = "scheduling.volcano.sh/v1beta1"
TEXT = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: nlp}
spec:
  cohortName: all
  resourceGroups: [{coveredResources: [nvidia.com/gpu], flavors: [{name: a100, resources: [{name: nvidia.com/gpu, nominalQuota: 4}]}]}]
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: Cohort, metadata: {name: part}, spec: {parentName: all}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: a100}, spec: {topologyName: racks}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: q, namespace: nlp}, spec: {clusterQueue: nlp}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: runs, namespace: nlp}
spec: {queueName: q}
status: {admission: {clusterQueue: nlp}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: ended, namespace: nlp}
spec: {queueName: q}
status: {admission: {clusterQueue: nlp}, conditions: [{type: Finished, status: "True"}]}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: waits, namespace: nlp}, spec: {queueName: q}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: job, namespace: nlp, labels: {kueue.x-k8s.io/priority-class: low}}
spec: {template: {spec: {priorityClassName: low, containers: [{name: a}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: pod, namespace: nlp, ownerReferences: [{apiVersion: batch/v1, kind: Job, name: job, uid: a, controller: true}]}
spec: {priorityClassName: low, containers: [{name: a}]}
status: {phase: Running}
---
apiVersion: v1
kind: Pod
metadata: {name: done, namespace: nlp, ownerReferences: [{apiVersion: batch/v1, kind: Job, name: job, uid: a, controller: true}]}
spec: {priorityClassName: low, containers: [{name: a}]}
status: {phase: Succeeded}
---
{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: below}, spec: {parent: train}}
---
{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: gang, namespace: nlp}, spec: {queue: train}, status: {phase: Running}}
---
{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: later, namespace: nlp}, spec: {queue: train}, status: {phase: Pending}}
"""


def made(api_version, kind, name, namespace="", **spec):
    data = {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, "spec": spec}
    if namespace:
        data["metadata"]["namespace"] = namespace
    return Object.read(data, At(0))


@pytest.fixture(scope="module")
def cluster():
    read = snapshot(TEXT)
    return Cluster(read.objects, read.seen, read.pods)


@pytest.mark.parametrize(
    "removed, expected",
    [
        (
            (KUEUE, "ClusterQueue", "nlp"),
            {
                "admitted workload": ("nlp/runs",),
                "pending workload": ("nlp/waits",),
                "LocalQueue": ("nlp/q",),
            },
        ),
        (
            (KUEUE, "LocalQueue", "q", "nlp"),
            {"admitted workload": ("nlp/runs",), "pending workload": ("nlp/waits",)},
        ),
        ((KUEUE, "LocalQueue", "q", "vision"), {}),
        ((KUEUE, "ResourceFlavor", "a100"), {"ClusterQueue": ("nlp",)}),
        ((KUEUE, "Cohort", "all"), {"queue": ("nlp", "part")}),
        ((KUEUE, "Topology", "racks"), {"ResourceFlavor": ("a100",)}),
        ((KUEUE, "WorkloadPriorityClass", "low"), {"workload": ("nlp/job",)}),
        (
            ("scheduling.k8s.io/v1", "PriorityClass", "low"),
            {"pod": ("nlp/pod",), "workload": ("nlp/job",)},
        ),
        (("v1", "Namespace", "nlp"), {"pod": ("nlp/pod",)}),
        (
            (VOLCANO, "Queue", "train"),
            {
                "running PodGroup": ("nlp/gang",),
                "pending PodGroup": ("nlp/later",),
                "Queue": ("below",),
            },
        ),
        (("v1", "ResourceQuota", "r", "nlp"), {}),
    ],
)
def test_users_are_named(cluster, removed, expected):
    it = made(*removed)
    assert {use.noun: use.names for use in uses(it, cluster_change(cluster, [it], []))} == expected


def test_users_that_the_change_removes_or_moves_do_not_count(cluster):
    queue = made(KUEUE, "ClusterQueue", "nlp")
    local = made(KUEUE, "LocalQueue", "q", "nlp", clusterQueue="other")
    nouns = [it.noun for it in uses(queue, cluster_change(cluster, [queue], [local]))]
    assert nouns == ["admitted workload", "pending workload"]
    flavor = made(KUEUE, "ResourceFlavor", "a100")
    assert uses(flavor, cluster_change(cluster, [queue, flavor], [])) == []
