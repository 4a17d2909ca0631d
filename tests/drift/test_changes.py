"""The changes between two snapshots."""

from policygen.documents.parse import mapping
from policygen.drift.changes import What, changes, not_requested, readable
from policygen.kubernetes.snapshot import GroupKind
from tests.client.looks import snapshot

QUEUE = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: a, namespace: n, labels: {x: "1"}}
spec: {clusterQueue: q}
---
"""
OTHER = QUEUE.replace("name: a", "name: b")
JOB = "{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: n}, spec: {}}\n---\n"


def summaries(before, after, **seen):
    found = changes(snapshot(before, **seen), snapshot(after), mapping)
    return [(it.what, str(it.object), it.path) for it in found]


def test_objects_come_and_go_in_the_order_of_their_names():
    assert summaries(OTHER, QUEUE) == [
        (What.ADDED, "LocalQueue n/a", ""),
        (What.REMOVED, "LocalQueue n/b", ""),
    ]
    assert summaries(QUEUE, QUEUE) == []


def test_fields_and_new_labels_change():
    after = QUEUE.replace("clusterQueue: q", "clusterQueue: z").replace('"1"}', '"1", y: "2"}')
    assert summaries(QUEUE, after) == [
        (What.CHANGED, "LocalQueue n/a", "metadata.labels.y"),
        (What.CHANGED, "LocalQueue n/a", "spec.clusterQueue"),
    ]


def test_a_workload_is_not_policy():
    assert summaries("", JOB) == []


def test_what_one_did_not_read_is_not_compared():
    assert summaries("", QUEUE, read=frozenset()) == []
    assert summaries("", QUEUE, namespaces=("other",)) == []
    assert [what for what, *_ in summaries("", QUEUE, namespaces=("n",))] == [What.ADDED]


def test_a_kind_that_is_not_served_was_read():
    kind = GroupKind("kueue.x-k8s.io", "Cohort")
    seen = snapshot("", read=frozenset(), unserved=frozenset({kind})).seen
    assert readable(seen) == {kind}


def test_a_config_map_that_the_other_did_not_request():
    text = "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: n}}"
    one = snapshot(text, config_maps=frozenset({"c"}))
    assert [it.name for it in not_requested(one, snapshot("", config_maps=frozenset()))] == ["c"]
    assert list(not_requested(one, snapshot("", config_maps=frozenset({"c"})))) == []
