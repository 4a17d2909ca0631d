"""Pods that no scheduler places: those that name their node, and those with a scheduling gate."""

from tests.servers.nodes import Shape
from tests.servers.workloads import Ask, on_node, pod

GATE = "example.com/data"


def test_a_named_node_runs_pods_that_the_scheduler_would_not_place(cluster):
    """The node is cordoned, which is a taint with NoSchedule, too. Another pod does not get it."""
    cluster.namespace("a")
    (node,) = cluster.add_nodes(Shape(), 1)
    cluster.patch("v1", "Node", node, {"spec": {"unschedulable": True}})
    cluster.create(on_node(node, "named", "a", Ask(gpus=1)), pod("other", "a", Ask(gpus=1)))
    cluster.becomes("waiting", lambda: cluster.waiting("a"), ["other"])
    cluster.stays("GPUs in use", lambda: cluster.placement(namespace="a"), {node: 1}, for_s=1)


def test_a_gated_pod_uses_no_node_until_its_gate_is_removed(cluster):
    cluster.namespace("a")
    cluster.add_nodes(Shape(), 1)
    gated = pod("gated", "a", Ask(gpus=1))
    gated["spec"]["schedulingGates"] = [{"name": GATE}]
    cluster.create(gated, pod("plain", "a", Ask(gpus=1)))
    cluster.becomes("placed", lambda: cluster.bound("a"), 1)
    cluster.stays("placed", lambda: cluster.bound("a"), 1, for_s=1)
    cluster.patch("v1", "Pod", "gated", {"spec": {"schedulingGates": []}}, "a")
    cluster.becomes("placed", lambda: cluster.bound("a"), 2)
