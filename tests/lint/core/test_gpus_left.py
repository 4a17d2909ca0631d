"""GPUs that no pod of the input can use on nodes that are full of other pods."""

import pytest

from policygen.lint.core.rules.gpus_left_unusable import RULE
from tests.objects import facts

NODE = """
apiVersion: v1
kind: Node
metadata: {name: n%d, uid: u, labels: {pool: a}}
status: {allocatable: {cpu: %d, pods: %d%s}}
---
"""
WORK = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: w%d, namespace: a}
spec:
  replicas: %d
  template:
    spec:
      nodeSelector: {pool: a}
      containers: [{name: a, image: a, resources: {limits: {cpu: %d, nvidia.com/gpu: %d}}}]
---
"""
EIGHT, OTHER = ", nvidia.com/gpu: 8", ", nvidia.com/gpu: 8, amd.com/gpu: 1"


def found(nodes, pods):
    text = "".join(NODE % (i, *node) for i, node in enumerate(nodes))
    text += "".join(WORK % (i, *pod) for i, pod in enumerate(pods))
    return [it.message for it in RULE.check(facts(text.removesuffix("---\n")))]


@pytest.mark.parametrize(
    ("nodes", "pods", "expected"),
    [
        ([(64, 9, EIGHT)], [(2, 1, 3)], "2 pods of Deployment a/w0 fill keeps 2 of 8"),
        ([(64, 9, EIGHT), (64, 9, "")], [(2, 1, 3)], "2 pods of Deployment a/w0 fill keeps 2 of 8"),
        ([(64, 9, EIGHT), (64, 9, OTHER)], [(2, 1, 3)], ""),
        ([(64, 9, EIGHT)], [(1, 1, 3)], ""),
        ([(64, 9, EIGHT)], [(2, 40, 4)], "1 pod of Deployment a/w0 fills keeps 4 of 8"),
        ([(64, 9, EIGHT), (99, 9, EIGHT)], [(2, 40, 4)], ""),
        ([(64, 9, EIGHT), (48, 9, EIGHT)], [(9, 17, 1)], "3 pods of Deployment a/w0 fill keeps 5 of 8"),
        ([(64, 6, EIGHT)], [(9, 1, 1)], "the number of pods runs out first"),
        ([(64, 9, EIGHT)], [(2, 1, 3), (1, 1, 2)], ""),
        ([(64, 2, EIGHT)], [(2, 1, 3), (1, 1, 4)], "2 pods of Deployment a/w0 fill keeps 2 of 8"),
        ([(60, 9, EIGHT), (64, 9, EIGHT)], [(2, 30, 3), (1, 4, 2)], ""),
        ([(64, 9, EIGHT)], [(2, 40, 4), (1, 4, 1)], "unused (other pods of the input can use 1 on all"),
        ([(64, 9, EIGHT)], [(2, 40, 4), (3, 4, 1)], ""),
        ([(64, 9, EIGHT)] * 2, [(2, 40, 4), (3, 4, 1)], "1 pod of Deployment a/w0 fills keeps 4 of 8"),
    ],
)  # fmt: skip
def test_accelerators_that_stay_idle(nodes, pods, expected):
    messages = [it for it in found(nodes, pods) if "w0 fill" in it]
    assert len(messages) == bool(expected)
    assert all(expected in it for it in messages)


SCALED = """
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: w0, namespace: a}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: w0}, minReplicas: 1, maxReplicas: %d}
"""


@pytest.mark.parametrize(("most", "number"), [(2, 0), (3, 1)])
def test_an_autoscaler_can_fill_a_node(most, number):
    """Three pods fill a node with 64 cores."""
    text = NODE % (0, 64, 9, EIGHT) + WORK % (0, 1, 20, 2) + SCALED % most
    assert len([*RULE.check(facts(text))]) == number
