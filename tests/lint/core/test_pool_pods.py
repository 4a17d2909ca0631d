"""Pods on a pool's nodes that the pool's queue or scheduler does not count."""

import pytest

from policygen.core.versions import DEFAULT
from policygen.kubernetes.cluster import Cluster
from policygen.lint.core.pool_pods import pools, scheduler_name
from policygen.lint.rule import Facts, Need
from tests.client.looks import snapshot

NODE = """
apiVersion: v1
kind: Node
metadata: {name: %s, labels: {pool: %s}}
status: {allocatable: {nvidia.com/gpu: 8}}
---
"""
POD = """
apiVersion: v1
kind: Pod
metadata: {name: %s, namespace: n, labels: {%s}, ownerReferences: [%s]}
spec:
  nodeName: %s
  schedulerName: %s
  containers: [{name: c, resources: {limits: {nvidia.com/gpu: %s}}}]
---
"""
JOB = """
apiVersion: batch/v1
kind: Job
metadata: {name: j, namespace: n, labels: {%s}}
spec: {template: {spec: {containers: [{name: c}]}}}
---
"""
OWNER = "{apiVersion: batch/v1, kind: Job, name: j, uid: u, controller: true}"
QUEUE = "kueue.x-k8s.io/queue-name: q"


def pod(name="a", labels="", owner="", node="x", scheduler="default-scheduler", gpus=2):
    return POD % (name, labels, owner, node, scheduler, gpus)


@pytest.fixture
def seen(planned, pool, team):
    """The pool of a spec, on a cluster with its nodes and these objects."""

    def look(text, scheduler="kueue", guarantee=4):
        plan = planned(pool(scheduler=scheduler), team("t", f"guarantee: {guarantee}")).plan
        it = snapshot(NODE % ("x", "p") + NODE % ("y", "other") + text)
        cluster = Cluster(it.objects, it.seen, it.pods)
        (found,) = pools(Facts(cluster, DEFAULT, frozenset(Need), plan=plan))
        return found

    return look


def names(found):
    return [it.pod.name for it in found]


def test_its_nodes_and_its_guarantees(seen):
    it = seen("")
    assert ([node.name for node in it.nodes], it.guaranteed) == (["x"], {"nvidia.com/gpu": 4})


@pytest.mark.parametrize(
    ("text", "past"),
    [
        (pod(), ["a"]),
        (pod(node="y"), []),
        (pod(gpus=0), []),
        (pod(labels=QUEUE), []),
        (pod(owner=OWNER), []),
        (pod(owner=OWNER) + JOB % "", ["a"]),
        (pod(owner=OWNER) + JOB % QUEUE, []),
    ],
)
def test_who_passes_by_the_queue(seen, text, past):
    assert names(seen(text).past_queue) == past


def test_a_pool_of_volcano_has_no_queue_of_kueue(seen):
    it = seen(pod("a") + pod("b", scheduler="volcano"), scheduler="volcano")
    assert (names(it.past_queue), names(it.past_scheduler)) == ([], ["a"])
    assert scheduler_name(it.past_scheduler[0]) == "default-scheduler"


def test_what_such_pods_leave_of_the_guarantees(seen):
    few, many = seen(pod(gpus=4)), seen(pod(gpus=6))
    assert few.shortfall(few.past_queue) == ""
    assert "need 4 nvidia.com/gpu, but these pods leave only 2" in many.shortfall(many.past_queue)
