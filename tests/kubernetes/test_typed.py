"""Fields of a wrong type are omitted, and each access to them is recorded."""

import json

from policygen.kubernetes.cluster import Cluster
from tests.kubernetes.reading import QUEUE, read


def test_null_is_absent_and_of_a_wrong_type_only_the_name_is_known():
    good = {**QUEUE, "spec": {"clusterQueue": "c", "stopPolicy": None}}
    bad = {**QUEUE, "metadata": {"name": "z"}, "spec": ["c"]}
    cluster = Cluster(read("\n---\n".join(map(json.dumps, [good, bad]))).objects)
    assert [it.name for it in cluster.local_queues] == ["a"]
    assert cluster.local_queues.knows("z")
    (malformed,) = cluster.malformed
    assert malformed.path == ("spec",)


def test_a_field_of_a_wrong_type_is_omitted_and_its_accesses_are_recorded():
    bad = {**QUEUE, "spec": {"clusterQueue": ["c"], "stopPolicy": "Hold"}}
    cluster = Cluster(read(json.dumps(bad)).objects)
    (queue,) = cluster.local_queues
    (malformed,) = cluster.malformed
    assert malformed.path == ("spec", "clusterQueue")
    assert queue.fields.stop_policy == "Hold"
    assert cluster.accesses.take() == frozenset()
    assert queue.fields.cluster_queue == ""
    assert cluster.accesses.take() == {queue.at}
    assert list(cluster.without(frozenset({queue.at})).local_queues) == []


def test_an_empty_entry_of_a_controllers_file_is_a_mapping_without_fields():
    head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    plugins = {"score": {"disabled": [None]}}
    profiles = [None, {"schedulerName": "a", "pluginConfig": [None], "plugins": plugins}]
    cluster = Cluster(read(json.dumps({**head, "profiles": profiles})).objects)
    (entry,) = cluster.scheduler_configurations
    assert cluster.malformed == ()
    first, second = entry.fields.profiles
    assert first.scheduler_name == "default-scheduler"
    assert [it.name for it in second.plugin_config] == [""]
    assert [it.name for it in second.plugins["score"].disabled] == [""]


def test_an_empty_entry_of_an_object_is_not():
    bad = {**QUEUE, "kind": "ClusterQueue", "spec": {"resourceGroups": [None]}}
    assert len(Cluster(read(json.dumps(bad)).objects).malformed) == 1
