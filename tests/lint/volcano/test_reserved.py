"""Gangs that need what other queues are guaranteed."""

import json

from policygen.lint.volcano.reserved import reserved
from tests.objects import cluster

NODE = """
apiVersion: v1
kind: Node
metadata: {name: a}
status: {allocatable: {nvidia.com/gpu: %d}}
---
"""
GROUP = """
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: a, namespace: a}
spec: {queue: q, minMember: 2, minResources: {nvidia.com/gpu: %d}}
"""


def queue(name, guarantee=0, parent="root", **capability):
    amounts = {"resource": {"nvidia.com/gpu": guarantee}}
    spec = {"parent": parent, "guarantee": amounts, "capability": capability}
    metadata = {"name": name}
    made = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": metadata}
    return f"{json.dumps(made | {'spec': spec})}\n---\n"


def found(gpus, needed, *queues):
    made = cluster(NODE % gpus + "".join(queues) + GROUP % needed)
    return [(it.queue.name, it.most, [each.name for each in it.siblings]) for it in reserved(made)]


def test_the_guarantees_of_siblings_are_subtracted():
    queues = queue("q", 4), queue("r", 10), queue("s")
    assert found(16, 6, *queues) == []
    assert found(16, 7, *queues) == [("q", 6, ["r"])]


def test_they_are_subtracted_at_each_level():
    queues = queue("p"), queue("r", 4), queue("q", parent="p"), queue("s", 6, parent="p")
    assert found(16, 6, *queues) == []
    assert found(16, 8, *queues) == [("q", 6, ["s"])]
    assert found(16, 14, *queues) == [("p", 12, ["r"])]


def test_what_other_rules_report_is_skipped():
    """The nodes have too few GPUs, or the guarantees exceed those of the nodes."""
    assert found(4, 6, queue("q"), queue("r", 3)) == []
    assert found(8, 6, queue("q"), queue("r", 9)) == []
