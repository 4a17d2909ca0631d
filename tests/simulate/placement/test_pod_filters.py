"""Nodes that other pods close."""

import pytest

from policygen.simulate.placement.profile import Profile
from policygen.simulate.placement.scheduler import KubeScheduler
from tests.simulate.placement.made import node, shape

NODES = [node("a", zone="x"), node("b", zone="x"), node("c", zone="y")]
ZONES = """
topologySpreadConstraints:
  - {topologyKey: topology.kubernetes.io/zone, maxSkew: 1, whenUnsatisfiable: DoNotSchedule,
     labelSelector: {matchLabels: {app: a}}, minDomains: %s}
"""
TERM = """
affinity:
  %s:
    requiredDuringSchedulingIgnoredDuringExecution:
      - {topologyKey: %s, labelSelector: {matchLabels: {app: a}}}
"""
HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"


def room(pod, others=(), nodes=NODES):
    scheduler = KubeScheduler(nodes, seed=None)
    for other, at in others:
        scheduler.bind(other, at)
    found = sorted(scheduler.scores(pod))
    placed = scheduler.place(pod)
    assert (placed is None) == (not found)
    assert placed is None or placed.node in found
    return "".join(nodes[it].name for it in found)


@pytest.mark.parametrize(
    ("pods", "domains", "names"),
    [
        ("", 1, "abc"),
        ("a", 1, "c"),
        ("ac", 1, "abc"),
        ("c", 1, "ab"),
        ("ac", 3, ""),
        ("cc", 1, "ab"),
    ],
)
def test_skew(pods, domains, names):
    pod = shape(ZONES % domains, app="a")
    assert room(pod, [(shape(app="a"), "abc".index(it)) for it in pods]) == names


def test_nodes_that_the_pod_does_not_select_are_no_domain():
    pod = shape(ZONES % 1 + "nodeSelector: {topology.kubernetes.io/zone: x}", app="a")
    assert room(pod, [(shape(app="a"), 0)]) == "ab"


def test_a_skew_of_hosts_fills_them_in_turns():
    pod = shape((ZONES % 1).replace("topology.kubernetes.io/zone", HOST), app="a", cpu="100m")
    scheduler = KubeScheduler(NODES)
    found = [scheduler.place(pod).node for _ in range(6)]
    assert sorted(found[:3]) == sorted(found[3:]) == [0, 1, 2]


@pytest.mark.parametrize(
    ("topology", "pods", "names"), [(HOST, "", "abc"), (HOST, "a", "bc"), (ZONE, "a", "c")]
)
def test_anti_affinity_closes_a_domain_on_both_sides(topology, pods, names):
    apart = shape(TERM % ("podAntiAffinity", topology), app="a")
    others = ["abc".index(it) for it in pods]
    assert room(apart, [(shape(app="a"), it) for it in others]) == names
    assert room(shape(app="a"), [(apart, it) for it in others]) == names
    assert room(shape(app="b"), [(apart, it) for it in others]) == "abc"


def test_affinity_needs_a_pod_or_starts_a_group_of_its_own():
    together = shape(TERM % ("podAffinity", ZONE), app="a")
    stranger = shape(TERM % ("podAffinity", ZONE), app="b")
    assert room(together) == "abc"
    assert room(stranger) == ""
    assert room(together, [(shape(app="a"), 2)]) == "c"
    assert room(stranger, [(shape(app="a"), 0)]) == "ab"
    assert room(together, nodes=[node("a"), node("b", zone="x")]) == "b"


def test_a_ranking_follows_pods_that_come_and_go():
    scheduler = KubeScheduler(NODES, [Profile()], seed=None)
    apart = shape(TERM % ("podAntiAffinity", ZONE), app="a")
    first, second = scheduler.place(apart), scheduler.place(apart)
    assert scheduler.place(apart) is None
    scheduler.remove(apart, second.node)
    assert scheduler.place(apart).node == second.node
    scheduler.remove(apart, first.node)
    assert scheduler.place(apart).node == first.node
