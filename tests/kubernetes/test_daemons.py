"""On which nodes a DaemonSet runs a pod."""

from fractions import Fraction

from policygen.kubernetes.core import TaintView, TolerationView
from policygen.kubernetes.daemons import daemon_nodes, on_node
from policygen.kubernetes.node_filters import demand
from policygen.kubernetes.node_groups import Node, NodeSet, Stated
from policygen.kubernetes.node_index import NodeIndex
from policygen.kubernetes.workloads import PodSpec

CPU = {"cpu": Fraction(8)}
NODES = NodeSet(
    (
        Node("plain", {}, allocatable=CPU),
        Node("cordoned", {}, allocatable=CPU, unschedulable=True),
        Node("tainted", {}, (TaintView(key="gpu", effect="NoSchedule"),), CPU),
        Node("small", {}, allocatable={"cpu": Fraction(1)}),
        Node("unknown", {}, stated=Stated.PART),
    )
)


def nodes(spec):
    index = NodeIndex(NODES)
    own = demand(spec, {"cpu": Fraction(2)})
    return [it.name for _, it in index.entries(daemon_nodes(index, own))]


def test_a_pod_runs_on_each_node_that_certainly_takes_it():
    assert nodes(PodSpec()) == ["plain", "cordoned"]
    everything = TolerationView(operator="Exists")
    assert nodes(PodSpec(tolerations=(everything,))) == ["plain", "cordoned", "tainted"]
    assert nodes(PodSpec(node_selector={"rack": "r1"})) == []


def test_the_pod_of_a_node_keeps_only_the_preferred_node_affinity():
    required, preferred = (
        "requiredDuringSchedulingIgnoredDuringExecution",
        "preferredDuringSchedulingIgnoredDuringExecution",
    )
    spec = PodSpec(affinity={"nodeAffinity": {required: {}, preferred: [1]}, "podAffinity": {}})
    own = on_node(spec, "cordoned")
    assert own.affinity["nodeAffinity"][preferred] == [1]
    assert own.affinity["podAffinity"] == {}
    assert nodes(own) == ["cordoned"]
