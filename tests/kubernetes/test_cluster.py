"""The objects that rules check: typed, indexed, and without unreadable objects."""

from policygen.core.finding import At
from tests.objects import cluster

TEXT = """
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: a}
spec: {cohort: all, stopPolicy: 7}
---
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: n}
spec: {containers: [{name: c}]}
---
apiVersion: example.com/v1
kind: ClusterQueue
metadata: {name: other}
"""


def named(it):
    return it.cluster_queues.get("a").fields.cohort_name


def test_tables_hold_the_kinds_of_their_group_only():
    it = cluster(TEXT)
    assert [entry.name for entry in it.cluster_queues] == ["a"]
    assert [each.name for each in it.of("example.com", "ClusterQueue")] == ["other"]
    assert it.kinds == {"ClusterQueue", "Pod"}
    assert [each.name for each in it.workloads] == ["p"]
    assert ("kueue.x-k8s.io", "Cohort") in it.tables


def test_a_field_of_a_wrong_type_is_invalid_and_the_others_are_read():
    it = cluster(TEXT)
    assert [path for _, path in it.invalid_fields] == [("spec", "stopPolicy")]
    assert named(it) == "all"
    assert it.accesses.take() == frozenset()
    assert it.cluster_queues.get("a").fields.stop_policy == "None"
    assert it.accesses.take() == {At(0)}


def test_an_unreadable_object_is_not_read_but_its_name_is_known():
    it = cluster(TEXT)
    less = it.without(frozenset({At(0)}))
    assert less.cluster_queues.get("a") is None
    assert less.cluster_queues.knows("a")
    assert it.without(frozenset({At(0)})) is less


def test_what_is_derived_is_made_once_and_its_accesses_repeat():
    def made(it):
        return [it.cluster_queues.get("a").fields.stop_policy]

    it = cluster(TEXT)
    assert it.derive(made) is it.derive(made)
    it.accesses.take()
    it.derive(made)
    assert it.accesses.take() == {At(0)}


def test_other_objects_with_a_known_result():
    made = cluster(TEXT).with_objects((), len, 5)
    assert (len(made.cluster_queues), made.derive(len)) == (0, 5)
