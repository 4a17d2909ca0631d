"""Scores of one node, computed by hand. tests/servers/test_placement.py compares them with kube-scheduler."""

import pytest

from policygen.core.names import GPU
from policygen.simulate.placement.nodes import NodeTable
from policygen.simulate.placement.own_scores import Balanced, KeptScores, OwnScores, fit, half_up
from policygen.simulate.placement.profile import Profile, Strategy, utilization_table
from tests.simulate.placement.made import node, shape

CPU_ONLY = (("cpu", 1),)
WITH_GPU = (("cpu", 1), (GPU, 3))


@pytest.mark.parametrize(
    ("strategy", "pod", "score"),
    [
        (Strategy(), shape(), 75),  # 3 of 4 cores and 6 of 8 GiB are left
        (Strategy(), shape(cpu="2", memory="1Gi"), 68),  # (50 + 87) / 2
        (Strategy(most=True), shape(cpu="2", memory="1Gi"), 31),  # (50 + 12) / 2
        (Strategy(CPU_ONLY, most=True), shape(cpu=""), 2),  # 100 of 4000 thousandths
        (Strategy(WITH_GPU, most=True), shape(cpu="2", gpus=1), 21),  # (50 + 3 x 12) / 4
        (Strategy(WITH_GPU, most=True), shape(cpu="2"), 50),  # without GPUs, these do not count
        (Strategy(table=utilization_table([(0, 0), (100, 10)])), shape(cpu="2", memory="1Gi"), 31),
        # 50 % of the cores score 0 and do not count; 12 % of the memory score 100 - 24
        (Strategy(table=utilization_table([(0, 10), (50, 0)])), shape(cpu="2", memory="1Gi"), 76),
    ],
)
def test_fit(strategy, pod, score):
    assert fit(NodeTable([node(gpus=8)]), pod, strategy).of([0]) == [score]


def test_a_resource_that_the_node_does_not_have_does_not_count():
    strategy = Strategy((("cpu", 1), ("ephemeral-storage", 9)))
    assert fit(NodeTable([node()]), shape(), strategy).of([0]) == [75]


@pytest.mark.parametrize(
    ("pod", "score"),
    [
        (shape(), 75),  # a quarter of both
        (shape(cpu="2", memory="1Gi"), 65),  # from 100 to 81: 50 + (50 + 81 - 100) / 2
    ],
)
def test_balance(pod, score):
    nodes = NodeTable([node()])
    assert Balanced(nodes, pod, ("cpu", "memory")).of([0]) == [score]


def test_a_pod_that_brings_back_the_balance_scores_more():
    nodes = NodeTable([node()])
    nodes.add(0, shape(cpu="2", memory=""))
    balanced = Balanced(nodes, shape(cpu="", memory="4Gi"), ("cpu", "memory"))
    assert balanced.of([0]) == [87]  # from 75 to 100: 50 + (50 + 100 - 75) / 2
    nodes.add(0, shape(cpu="", memory="4Gi"))
    assert balanced.of([0]) == [62]  # from 100 to 75


def test_kept_scores_of_changed_nodes_are_computed_again():
    nodes = NodeTable([node("a"), node("b"), node("c")])
    own = OwnScores(nodes, shape(), Profile())
    kept = KeptScores(nodes, own)
    large = shape(cpu="4")
    for at, pod in ((0, shape()), (1, large), (1, shape(cpu="")), (2, shape(cpu="2"))):
        nodes.add(at, pod)
        assert kept.scored([0, 1, 2]) == own.scored([0, 1, 2])
    assert kept.scored([0, 1])[0] == [0]
    nodes.remove(1, large)
    assert kept.scored([2, 1, 0]) == own.scored([2, 1, 0])


def test_a_share_of_a_resource_is_at_most_all_of_it():
    nodes = NodeTable([node()])
    balanced = Balanced(nodes, shape(memory=""), ("cpu", "memory"))
    nodes.add(0, shape(cpu="", memory="12Gi"))
    assert nodes.overcommitted
    assert balanced.of([0]) == [81]  # from 50 to 62: 50 + (50 + 62 - 50) / 2


def test_balance_of_three_resources_is_their_standard_deviation():
    nodes = NodeTable([node(gpus=8)])
    pod = shape(cpu="2", memory="4Gi", gpus=4)
    assert Balanced(nodes, pod, ("cpu", "memory", GPU)).of([0]) == [75]
    assert Balanced(nodes, shape(cpu="4", memory="8Gi", gpus=1), ("cpu", "memory", GPU)).of(
        [0]
    ) == [
        54  # a standard deviation of 0.41: from 100 to 58
    ]


def test_only_nodes_with_room_are_scored():
    nodes = NodeTable([node("a", cpu=1), node("b"), node("c", memory=1)])
    profile = Profile()
    assert OwnScores(nodes, shape(cpu="2"), profile).scored([0, 1, 2]) == ([1], [62 + 68])
    nodes.add(1, shape(cpu="3"))
    assert OwnScores(nodes, shape(cpu="2"), profile).scored([0, 1, 2]) == ([], [])


def test_pods_without_requests_have_no_balance():
    assert list(OwnScores(NodeTable([node()]), shape(cpu="", memory=""), Profile()).parts) == [
        "NodeResourcesFit"
    ]


@pytest.mark.parametrize(("value", "whole"), [(0.0, 0), (1.5, 2), (2.5, 3), (2.49, 2)])
def test_halves_are_rounded_up(value, whole):
    assert half_up(value) == whole
