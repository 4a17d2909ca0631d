"""Running pods that hold GPUs, by owner."""

from policygen.kubernetes.cluster import Cluster
from policygen.lint.core.running_pods import families, held, holders, maker, named, waiting
from tests.client.looks import snapshot

POD = """
apiVersion: v1
kind: Pod
metadata: {name: %s, namespace: n, uid: %s, ownerReferences: [%s]}
spec: {nodeName: %s, containers: [{name: c, resources: {limits: {%s: 2}}}]}
status: {phase: %s}
---
"""
OWNER = "{apiVersion: batch/v1, kind: Job, name: j, uid: %s, controller: true}"
JOB = """
apiVersion: batch/v1
kind: Job
metadata: {name: j, namespace: n, uid: u}
spec: {template: {spec: {containers: [{name: c}]}}}
---
"""


def pod(name, owner="", node="x", resource="nvidia.com/gpu", phase="Running"):
    return POD % (name, name, owner, node, resource, phase)


def seen(text):
    it = snapshot(text)
    return Cluster(it.objects, it.seen, it.pods)


def names(found):
    return [it.pod.name for it in found]


def test_who_holds_and_who_waits():
    text = pod("a") + pod("b", node='""') + pod("c", resource="cpu") + pod("d", phase="Succeeded")
    it = seen(text)
    assert names(holders(it)) == ["a"]
    assert names(waiting(it)) == ["b"]


def test_pods_of_one_owner_are_reported_together():
    it = seen(pod("a", OWNER % "u") + pod("b", OWNER % "u") + pod("c") + pod("d", OWNER % "w"))
    found = list(families(holders(it)))
    assert [(named(each), held(each)) for each in found] == [
        ("2 pods of Job n/j", "4 nvidia.com/gpu"),
        ("Pod n/c", "2 nvidia.com/gpu"),
        ("a pod of Job n/j", "2 nvidia.com/gpu"),
    ]


def test_another_object_of_the_name_did_not_make_a_pod():
    it = seen(JOB + pod("a", OWNER % "u") + pod("b", OWNER % "w") + pod("c"))
    assert [getattr(maker(it, each), "name", None) for each in it.pods] == ["j", None, None]
