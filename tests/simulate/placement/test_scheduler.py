"""Pods on nodes, one after the other."""

import random
from collections import Counter

import pytest
import yaml
from msgspec.structs import replace

from policygen.kubernetes.configurations import PluginConfig, SchedulerProfileView
from policygen.simulate.placement import scheduler as placement
from policygen.simulate.placement.profile import Profile, profile
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


SPREAD = """
topologySpreadConstraints:
  - {topologyKey: %s, maxSkew: 2, whenUnsatisfiable: %s, labelSelector: {matchLabels: {app: a}}}
"""
AFFINE = """
affinity:
  podAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
      - {weight: 10, podAffinityTerm: {topologyKey: topology.kubernetes.io/zone, labelSelector: {matchLabels: {app: b}}}}
  podAntiAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      - {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: c}}}
"""
ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"


@pytest.mark.parametrize("ranked", [4_000_000, 30])
def test_the_best_node_is_that_with_the_highest_scores(ranked, monkeypatch):
    """Also if rankings are dropped and the log of changes is cleared."""
    monkeypatch.setattr(placement, "_RANKED", ranked)
    monkeypatch.setattr(placement, "_LOG", 7)
    source = random.Random(5)
    nodes = [
        node(
            f"n{i}",
            4 + i % 3 * 4,
            8 + i % 4 * 8,
            zone=f"z{i % 3}",
            taints=["PreferNoSchedule"] * (i % 2),
        )
        for i in range(10)
    ]
    shapes = [
        shape(app="a"),
        shape(app="b", cpu="100m"),
        shape(app="b", owner={"of": "b"}),
        shape(SPREAD % (ZONE, "ScheduleAnyway"), app="a", memory="3Gi"),
        shape(SPREAD % (HOST, "ScheduleAnyway"), app="a"),
        shape(SPREAD % (ZONE, "DoNotSchedule"), app="a", cpu="300m"),
        shape(AFFINE, app="c"),
    ]
    scheduler, bound = KubeScheduler(nodes, seed=None), []
    for _ in range(400):
        if bound and source.random() < 0.4:
            scheduler.remove(*bound.pop(source.randrange(len(bound))))
            continue
        pod = source.choice(shapes)
        totals = {it: sum(them.values()) for it, them in scheduler.scores(pod).items()}
        found = scheduler.place(pod)
        if found is None:
            assert totals == {}
            continue
        best = max(totals.values())
        equal = [it for it, total in totals.items() if total == best]
        assert (found.node, found.ties) == (min(equal), len(equal))
        bound.append((pod, found.node))


def test_pods_that_differ_only_in_labels_share_a_ranking():
    assert shape(app="a").own == shape(app="b").own != shape(cpu="2").own
    scheduler = KubeScheduler([node("a"), node("b")], seed=None)
    assert [scheduler.place(shape(app=it)).node for it in "abcd"] == [0, 1, 0, 1]


def test_refusals_are_those_of_the_first_filter():
    nodes = [
        node("cordoned", taints=["NoSchedule"]),
        node("tainted", taints=["NoSchedule"], cpu=0),
        node("labelled", disk="hdd", cpu=0),
        node("small", cpu=0, memory=1, disk="ssd"),
        node("good", disk="ssd"),
    ]
    nodes[0] = replace(nodes[0], unschedulable=True)
    pod = shape("nodeSelector: {disk: ssd}")
    found = KubeScheduler(nodes).refusals(pod)
    assert {nodes[it].name: why for it, why in found.items()} == {
        "cordoned": ("node(s) were unschedulable",),
        "tainted": ("node(s) had untolerated taint(s)",),
        "labelled": ("node(s) didn't match Pod's node affinity/selector",),
        "small": ("Insufficient cpu", "Insufficient memory"),
    }


def test_a_filter_that_the_profile_disables_refuses_no_node():
    filters = tuple(it for it in Profile().filters if it != "NodeResourcesFit")
    scheduler = KubeScheduler([node(cpu=0)], [Profile(filters=filters)])
    assert scheduler.place(shape()).node == 0


def test_affinity_that_the_profile_requires_of_every_pod():
    view = SchedulerProfileView(
        plugin_config=(PluginConfig("NodeAffinity", {"addedAffinity": yaml.safe_load(SSD)}),)
    )
    scheduler = KubeScheduler([node("a"), node("b", disk="ssd")], [profile(view)])
    assert scheduler.place(shape()).node == 1
    assert scheduler.refusals(shape()) == {
        0: ("node(s) didn't match scheduler-enforced node affinity",)
    }


SSD = """
requiredDuringSchedulingIgnoredDuringExecution:
  nodeSelectorTerms: [{matchExpressions: [{key: disk, operator: In, values: [ssd]}]}]
"""
