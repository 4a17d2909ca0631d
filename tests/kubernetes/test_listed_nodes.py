"""Nodes of manifests and clusters."""

from policygen.core.finding import At
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.listed_nodes import listed_nodes
from policygen.kubernetes.node_groups import Stated
from policygen.kubernetes.object import Object

NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "a", "labels": {"x": "1"}},
    "spec": {
        "taints": [
            {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"},
            {"key": "gpu", "effect": "NoSchedule"},
        ]
    },
    "status": {"capacity": {"cpu": "4"}},
}


def listed(data):
    (found,) = listed_nodes(Cluster([Object.read(data, At(0, ()))]))
    return found


def test_taints_that_pass_are_omitted_and_the_capacity_is_allocatable():
    found = listed(NODE)
    assert [it.key for it in found.taints] == ["gpu"]
    assert found.allocatable == {"cpu": 4}
    assert found.stated is Stated.WRITTEN


def test_a_node_of_a_server_has_all_its_labels():
    metadata = {**NODE["metadata"], "uid": "1"}
    assert listed({**NODE, "metadata": metadata}).stated is Stated.ALL
