"""The nodes that are of no use to waiting pods are those that a look at all nodes finds, after each change."""

import random

import pytest

from policygen.core.names import GPU
from policygen.kubernetes.accelerators import is_one
from policygen.kubernetes.scheduler_reasons import INSUFFICIENT
from policygen.simulate.placement.profile import Profile
from policygen.simulate.placement.scheduler import KubeScheduler
from policygen.simulate.useless_nodes import (
    HOST,
    NO_MATCH,
    ON_NODES,
    TOO_FEW,
    UselessNodes,
    alone,
)
from policygen.simulate.wanted_pools import matches
from tests.simulate.placement.made import node, shape

ANTI = """
    affinity:
      podAntiAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          - labelSelector: {matchLabels: {app: a}}
            topologyKey: kubernetes.io/hostname
"""


def looked_at(kube, pod, pools):
    """By pool and node with free GPUs the cause, and whether pods match a node: from the words of all refusals."""
    refusals = kube.refusals(pod)
    causes = {it: {} for it in pools.values()}
    for i, reasons in refusals.items():
        name = kube.nodes.all[i].name
        if name not in pools or i in kube.absent or kube.nodes.free(GPU)[i] <= 0:
            continue
        short = [it.removeprefix(INSUFFICIENT) for it in reasons if it.startswith(INSUFFICIENT)]
        cause = NO_MATCH if not matches(reasons) else TOO_FEW if any(map(is_one, short)) else HOST
        causes[pools[name]][i] = ON_NODES.index(cause)
    matched = any(matches(why) for i, why in refusals.items() if kube.nodes.all[i].name in pools)
    return causes, matched


@pytest.mark.parametrize("seed", range(20))
def test_it_follows_each_change(seed):
    chance = random.Random(seed)
    nodes = [
        node(f"n{i}", chance.choice((4, 16)), 64, chance.choice((2, 8)), disk=chance.choice("ab"))
        for i in range(12)
    ]
    pools = {it.name: f"pool-{i % 2}" for i, it in enumerate(nodes) if i % 5}
    kube = KubeScheduler(nodes)
    for i in range(0, 12, 4):
        kube.lacks(i)
    pods = [
        shape("nodeSelector: {disk: a}" if chance.random() < 0.3 else "", cpu=cpu, gpus=gpus)
        for cpu in ("1", "3", "9")
        for gpus in (1, 2, 4)
    ]
    followed = [(it, UselessNodes(kube, it, pools)) for it in pods]
    bound = []
    seen = set()
    for _ in range(60):
        act = chance.random()
        if act < 0.6 and (found := kube.place(pod := chance.choice(pods))):
            bound.append((pod, found.node))
        elif act < 0.65 and kube.absent:
            kube.exists(next(iter(kube.absent)))
        elif bound:
            kube.remove(*bound.pop(chance.randrange(len(bound))))
        for pod, useless in chance.sample(followed, 3):
            assert alone(kube, pod)
            useless.follow()
            assert (useless.causes, useless.matched) == looked_at(kube, pod, pools)
            assert useless.fitting == {
                pool
                for pool, of in useless.causes.items()
                if any(ON_NODES[it] != NO_MATCH for it in of.values())
            }
            seen |= {ON_NODES[it] for of in useless.causes.values() for it in of.values()}
    assert {TOO_FEW, HOST} <= seen


def test_pods_that_others_can_keep_from_a_node_are_not_alone():
    kube = KubeScheduler([node("a", 4, 8, 8)])
    assert alone(kube, shape(gpus=1))
    shy = shape(ANTI, gpus=1, app="a")
    assert not alone(kube, shy)
    kube.place(shy)
    assert not alone(kube, shape(gpus=1))


def test_a_profile_that_looks_at_room_first_gives_other_reasons():
    first = Profile(filters=("NodeResourcesFit", "NodeAffinity"))
    assert not alone(KubeScheduler([node("a", 4, 8, 8)], [first]), shape(gpus=1))
