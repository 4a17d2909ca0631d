"""The nodes that pods of each scheduler use."""

from policygen.lint.core.node_users import FirstUsers, gpu_requests, node_users
from tests.objects import facts

NODE = """
apiVersion: v1
kind: Node
metadata: {name: %s, uid: u, labels: {rack: %s, zone: %s}}
status: {allocatable: {cpu: 8%s}}
---
"""
POD = """
apiVersion: v1
kind: Pod
metadata: {name: %s, namespace: a}
spec:
  schedulerName: %s
  nodeSelector: {%s}
  containers: [{name: a, image: a, resources: {limits: {nvidia.com/gpu: 1}}}]
---
"""


def users(nodes, pods):
    text = "".join(NODE % node for node in nodes) + "".join(POD % pod for pod in pods)
    given = facts(text.removesuffix("---\n"))
    return list(node_users(given, gpu_requests(given)))


def test_nodes_without_the_accelerator_are_not_used():
    gpus = ", nvidia.com/gpu: 8"
    nodes = [("n1", "r1", "z1", gpus), ("n2", "r1", "z2", ""), ("n3", "r2", "z2", gpus)]
    pods = [("one", "default-scheduler", "rack: r1"), ("two", "volcano", "zone: z2")]
    one, two = users(nodes, pods)
    assert (one.nodes, two.nodes) == (0b001, 0b100)
    first = FirstUsers()
    first.add(one)
    assert first.rival(two) is None


def test_the_first_pods_of_another_scheduler_on_a_node_are_the_rival():
    nodes = [(f"n{i}", f"r{i}", "z", ", nvidia.com/gpu: 8") for i in range(3)]
    pods = [
        ("one", "default-scheduler", "rack: r0"),
        ("two", "default-scheduler", "rack: r1"),
        ("three", "volcano", "rack: r2"),
        ("four", "volcano", "rack: r1"),
        ("five", "volcano", "rack: r9"),
    ]
    one, two, three, four, five = users(nodes, pods)
    first = FirstUsers()
    for user in (one, two, three, five):
        assert first.rival(user) is None
        first.add(user)
    assert first.rival(four) is two
    assert five.needed == {("rack", "r9")}
