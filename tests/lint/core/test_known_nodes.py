"""The nodes that pods are held against."""

from msgspec.structs import replace

from policygen.documents.files import Source
from policygen.kubernetes.node_groups import Stated
from policygen.lint.core.known_nodes import known_nodes
from policygen.plan.compile import compile_plan
from policygen.spec.load import load
from tests.objects import facts

POOL = """
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {name: a100}
spec:
  nodeSelector: {pool: a100}
  gpu: {perNode: 8, memory: 80Gi}
  capacity: {nodes: 2, nodeAllocatable: {cpu: 96, memory: 1000Gi}}
"""
NODE = """
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {pool: a100}%s}
spec:
  taints:
  - {key: gpu, effect: NoSchedule}
  - {key: node.kubernetes.io/not-ready, effect: NoExecute}
status: {allocatable: {cpu: 96}}
"""
OTHER = "{apiVersion: v1, kind: Namespace, metadata: {name: a}}"
PLAN = compile_plan(load([Source("spec.yaml", POOL, None)]).spec)


def names(it):
    return [(node.name, node.count, node.stated) for node in known_nodes(it).all]


def test_pools_imply_nodes_only_where_no_node_is_known():
    assert names(facts(OTHER)) == []
    assert names(replace(facts(OTHER), plan=PLAN)) == [("a100", 2, Stated.PART)]
    assert names(replace(facts(NODE % ""), plan=PLAN)) == [("n1", 1, Stated.WRITTEN)]


def test_a_node_of_a_server_has_all_its_labels():
    assert names(facts(NODE % ", uid: a-b")) == [("n1", 1, Stated.ALL)]


def test_taints_that_pass_are_left_out():
    (node,) = known_nodes(facts(NODE % "")).all
    assert [taint.key for taint in node.taints] == ["gpu"]
