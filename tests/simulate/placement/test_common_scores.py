"""Scores that are normalized over all nodes, computed by hand."""

import pytest

from policygen.simulate.placement.profile import Profile, Strategy
from policygen.simulate.placement.scheduler import KubeScheduler
from tests.simulate.placement.made import node, shape

PACKED = """
affinity:
  podAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 100
        podAffinityTerm: {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: a}}}
"""


def scores(plugin, nodes, pod, others=(), **changes):
    scheduler = KubeScheduler(nodes, [Profile(**changes)])
    for other, at in others:
        scheduler.bind(other, at)
    return [it.get(plugin) for _, it in sorted(scheduler.scores(pod).items())]


def test_taints():
    soft = "PreferNoSchedule"
    nodes = [node("a"), node("b", taints=[soft]), node("c", taints=[soft, soft])]
    assert scores("TaintToleration", nodes, shape()) == [300, 150, 0]
    tolerating = shape("tolerations: [{operator: Exists}]")
    assert scores("TaintToleration", nodes, tolerating) == [300, 300, 300]


def test_only_nodes_with_room_are_compared():
    nodes = [node("a", taints=["PreferNoSchedule"]), node("b", cpu=0)]
    assert scores("TaintToleration", nodes, shape()) == [0]


def test_preferred_labels():
    pod = shape("""
      affinity:
        nodeAffinity:
          preferredDuringSchedulingIgnoredDuringExecution:
            - {weight: 30, preference: {matchExpressions: [{key: disk, operator: In, values: [ssd]}]}}
            - {weight: 10, preference: {matchFields: [{key: metadata.name, operator: In, values: [b]}]}}
            - {weight: 9, preference: {}}
    """)
    nodes = [node("a", disk="ssd"), node("b", disk="ssd"), node("c")]
    assert scores("NodeAffinity", nodes, pod) == [150, 200, 0]  # 30, 40 and 0 of 40


def test_default_constraints_spread_pods_of_a_controller():
    mine = {"app": "a"}
    nodes = [node("a", zone="x"), node("b", zone="x"), node("c", zone="y")]
    others = [(shape(owner=mine), 0)]
    # a: ln 5 + 2 + ln 4 + 4 = 8.996, b: 2 + ln 4 + 4 = 7.386, c: 2 + 4 = 6
    expected = [2 * (100 * (9 + 6 - it) // 9) for it in (9, 7, 6)]
    assert scores("PodTopologySpread", nodes, shape(owner=mine), others) == expected
    assert scores("PodTopologySpread", nodes, shape(), others) == [None] * 3  # as a Job's pods


def test_nodes_without_a_label_of_a_constraint_score_0():
    pod = shape(
        """
        topologySpreadConstraints:
          - {topologyKey: rack, maxSkew: 1, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {app: a}}}
        """,
        app="a",
    )
    assert scores("PodTopologySpread", [node("a"), node("b", rack="1")], pod) == [0, 200]


def test_pod_affinity():
    nodes = [node("a"), node("b"), node("c")]
    pod = shape(PACKED, app="a")
    assert scores("InterPodAffinity", nodes, pod, [(pod, 1)]) == [0, 200, 0]
    assert scores("InterPodAffinity", nodes, pod) == [0, 0, 0]
    assert scores("InterPodAffinity", nodes, shape(app="a"), [(pod, 1)]) == [0, 200, 0]
    assert (
        scores("InterPodAffinity", nodes, shape(app="a"), [(pod, 1)], ignores_terms_of_others=True)
        == [None] * 3
    )


@pytest.mark.parametrize(
    ("constraints", "touched"), [(Profile().constraints, 64), ((), 8)], ids=["default", "without"]
)
def test_default_constraints_overrule_packing(constraints, touched):
    """gpu-packing.md 3.1: 64 replicas with one GPU on 100 nodes with eight."""
    strategy = Strategy((("nvidia.com/gpu", 1),), most=True)
    profile = Profile(strategy=strategy, constraints=constraints)
    scheduler = KubeScheduler([node(f"n{i}", 96, 768, 8) for i in range(100)], [profile])
    pod = shape(cpu="4", memory="8Gi", gpus=1, owner={"app": "a"})
    assert len({scheduler.place(pod).node for _ in range(64)}) == touched


def test_preferred_affinity_fills_one_node_after_the_other():
    """skypilot-org/skypilot#5423: eight pods with one GPU on two nodes with four."""
    scheduler = KubeScheduler([node("a", 16, 64, 4), node("b", 16, 64, 4)])
    pod = shape(PACKED, gpus=1, app="a")
    found = [scheduler.place(pod).node for _ in range(8)]
    assert found in ([0] * 4 + [1] * 4, [1] * 4 + [0] * 4)
