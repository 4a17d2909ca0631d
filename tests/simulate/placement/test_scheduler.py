"""Pods on nodes, one after the other."""

from collections import Counter

import pytest

from policygen.simulate.placement.scheduler import KubeScheduler
from tests.simulate.placement.made import node, shape


def test_a_pod_without_room_is_not_bound():
    scheduler = KubeScheduler([node(cpu=2)])
    assert scheduler.place(shape(cpu="2")).node == 0
    assert scheduler.place(shape()) is None


def test_equal_nodes_are_a_tie():
    nodes = [node(f"n{i}") for i in range(4)]
    found = Counter()
    for seed in range(200):
        placed = KubeScheduler(nodes, seed=seed).place(shape())
        assert placed.ties == 4
        found[placed.node] += 1
    assert min(found[it] for it in range(4)) > 25
    assert KubeScheduler(nodes, seed=None).place(shape()).node == 0


def test_a_node_that_a_pod_may_not_use():
    scheduler = KubeScheduler([node("a", taints=["NoSchedule"]), node("b", disk="ssd"), node("c")])
    assert scheduler.place(shape()).ties == 2
    assert scheduler.place(shape("nodeSelector: {disk: ssd}")).node == 1


def test_a_profile_that_does_not_exist():
    with pytest.raises(KeyError):
        KubeScheduler([node()]).place(shape("schedulerName: other"))


def test_default_scores_spread_pods():
    scheduler = KubeScheduler([node("a"), node("b")])
    assert {scheduler.place(shape()).node for _ in range(2)} == {0, 1}


def test_names_and_order_do_not_change_the_numbers():
    sizes = [4, 8, 16, 6]
    found = []
    for order in ([0, 1, 2, 3], [3, 1, 0, 2]):
        scheduler = KubeScheduler([node(f"n{i}", sizes[i], sizes[i] + 3) for i in order])
        pods = [shape(cpu=f"{i % 3 + 1}", memory=f"{i % 4 + 1}Gi") for i in range(8)]
        placed = [scheduler.place(it) for it in pods]
        found.append([sizes[order[it.node]] for it in placed if it])
    assert found[0] == found[1]
