"""The room for the pods of each template."""

from policygen.lint.core.node_rooms import node_rooms
from tests.objects import facts

TEXT = """
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: 96, nvidia.com/gpu: 8}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: llm, namespace: a}
spec:
  replicas: %s
  template:
    spec: {containers: [{name: a, image: a, resources: {limits: {nvidia.com/gpu: 4}}}]}
"""


def rooms(replicas):
    return [room.pods for _, room in node_rooms(facts(TEXT % replicas))]


def test_only_templates_whose_replicas_fill_the_nodes_have_a_room():
    assert [rooms(replicas) for replicas in (0, 1, 2, 3)] == [[], [], [2], [2]]
