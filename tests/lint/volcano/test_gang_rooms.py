"""The pods that a gang needs at once, and whether nodes hold them."""

import pytest

from policygen.lint.core.known_nodes import node_index
from policygen.lint.volcano.gang_rooms import GangRoom, gang_pods
from tests.objects import facts

NODE = """
apiVersion: v1
kind: Node
metadata: {name: n%s}
status: {allocatable: {cpu: 96, memory: 1000Gi, pods: 110, nvidia.com/gpu: %s}}
"""
JOB = """
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: llm, namespace: a}
spec:
  schedulerName: volcano
  tasks:
"""
TASK = """
  - replicas: %s
    template:
      spec:
        %s
        containers: [{name: a, image: a, resources: {limits: {nvidia.com/gpu: %s}}}]
"""


def gang(nodes, tasks, least, needed, fields=""):
    seen = facts(
        "---".join(NODE % it for it in enumerate(nodes))
        + f"---{JOB}"
        + "".join(TASK % (replicas, fields, gpus) for replicas, gpus in tasks)
    )
    (workload,) = seen.cluster.workloads
    return seen, gang_pods(seen, workload.templates, least, needed)


def holds(nodes, tasks, least, needed, fields=""):
    seen, pods = gang(nodes, tasks, least, needed, fields)
    return GangRoom(seen, pods).holds(seen.derive(node_index).all)


@pytest.mark.parametrize(
    ("least", "needed", "expected"),
    [
        ([3, 2], 5, ([3, 2], 0)),
        ([0, 0], 5, ([3, 2], 0)),  # all pods
        ([0, 0], 3, ([1, 0], 2)),  # at most two pods are not of the first task
        ([1, 2], 4, ([2, 2], 0)),
        ([1, 1], 4, ([2, 1], 1)),
    ],
)
def test_the_pods_of_each_template(least, needed, expected):
    _, pods = gang([8], [(3, 8), (2, 8)], least, needed)
    assert ([*pods.counts.values()], pods.others) == expected


@pytest.mark.parametrize(("tasks", "needed"), [([(3, 8)], 4), ([(3, 8)], 0)])
def test_a_wrong_number_of_pods_is_unknown(tasks, needed):
    assert gang([8], tasks, [0], needed)[1] is None


@pytest.mark.parametrize(
    "fields",
    [
        "topologySpreadConstraints: [{maxSkew: 1, topologyKey: rack, whenUnsatisfiable: DoNotSchedule}]",
        "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: rack}]}}",
    ],
)
def test_pods_that_look_at_pods_elsewhere_are_unknown(fields):
    assert gang([8, 8], [(2, 8)], [2], 2, fields)[1] is None


@pytest.mark.parametrize(
    ("nodes", "tasks", "least", "needed", "expected"),
    [
        ([8, 8], [(2, 8)], [2], 2, True),
        ([8, 8], [(3, 8)], [3], 3, False),
        ([8, 8], [(3, 5)], [3], 3, False),  # 15 of 16 GPUs, but a pod cannot be divided
        ([8, 8], [(1, 4), (2, 8)], [1, 2], 3, False),
        ([8, 8, 4], [(1, 4), (2, 8)], [1, 2], 3, True),
        # Two small pods fit, but two large ones do not.
        ([8], [(2, 2), (2, 8)], [0, 0], 2, None),
        ([8], [(2, 4), (2, 8)], [0, 0], 3, False),
    ],
)
def test_whether_nodes_hold_a_gang(nodes, tasks, least, needed, expected):
    assert holds(nodes, tasks, least, needed) is expected


def test_pods_that_repel_each_other_need_a_node_each():
    fields = """affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
          {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {volcano.sh/job-name: llm}}}]}}"""
    assert holds([8, 8], [(2, 1)], [2], 2, fields) is True
    assert holds([8, 8], [(3, 1)], [3], 3, fields) is False
