"""Pools on the nodes that were read: GPUs, taints, and what a pool cannot say."""

import re

from tests.adopt.round_trip import adopted
from tests.adopt.test_infer import HAND

TAINT = "spec: {taints: [{key: gpu, value: mine, effect: NoSchedule}]}\n"
THIRD = """---
apiVersion: v1
kind: Node
metadata: {name: n3, labels: {gpu: a100}}
status: {allocatable: {cpu: 45, memory: 450Gi, nvidia.com/gpu: 4}}
"""
STATUS = "status: {allocatable: {cpu: "


def pool_of(text):
    """The pool of HAND, its guesses, and the lines of its flavor."""
    inferred = adopted(text, rendered=False)
    (pool,) = (it for it in inferred.spec.pools if it.name == "a100")
    guesses = [it.text for it in inferred.guesses if (it.kind, it.name) == ("ResourcePool", "a100")]
    return pool, guesses, [why for name, why in inferred.left if name == "ResourceFlavor a100"]


def test_gpus_of_nodes_that_differ_are_those_of_the_nodes():
    pool, guesses, listed = pool_of(HAND + THIRD)
    assert (pool.capacity.nodes, pool.capacity.total_gpus, pool.gpu.per_node) == (None, 20, 8)
    assert pool.capacity.available_gpus == 12
    assert pool.capacity.node_allocatable.cpu_milli == 90_000
    (text,) = listed
    assert "2 nodes have 8 and 1 node has 4" in text
    assert guesses == [f"Guess: {text}."]


def test_nodes_without_any_quota_have_all_their_gpus():
    pool, _, _ = pool_of(re.sub(r"nominalQuota: \d+", "nominalQuota: 0", HAND))
    assert (pool.capacity.nodes, pool.capacity.available_gpus) == (2, None)


def test_quotas_above_the_nodes_are_a_guess_and_listed():
    pool, guesses, listed = pool_of(HAND.replace("nominalQuota: 8, ", "nominalQuota: 80, "))
    assert (pool.capacity.total_gpus, pool.gpu.per_node) == (84, 8)
    (text,) = listed
    assert "have 16 nvidia.com/gpu, but the quotas add up to 84 nvidia.com/gpu" in text
    assert guesses == [f"Guess: {text}."]


CPU = "{name: nvidia.com/gpu, nominalQuota: 8, borrowingLimit: 0}"


def test_cpu_above_the_nodes_is_a_guess_and_listed():
    more = HAND.replace(CPU, f"{CPU}, {{name: cpu, nominalQuota: 300}}")
    pool, guesses, listed = pool_of(more)
    assert pool.capacity.node_allocatable.cpu_milli == 200_000  # 12 of the 16 GPUs have quotas
    (text,) = listed
    assert "have 185 cores, but the quotas add up to 300 cores" in text
    assert guesses == [f"Guess: {text}."]
    assert pool_of(HAND)[1:] == ([], [])


def test_taints_of_all_nodes_are_those_of_the_pool():
    pool, _, listed = pool_of(HAND.replace(STATUS, TAINT + STATUS))
    assert [(it.key, it.value, it.effect) for it in pool.taints] == [("gpu", "mine", "NoSchedule")]
    assert pool.tolerations is None
    assert listed == []


def test_a_taint_of_some_nodes_is_listed():
    pool, _, listed = pool_of(HAND.replace(STATUS, TAINT + STATUS, 1))
    assert pool.taints == ()
    assert listed == [
        "only 1 of its 2 nodes have taint gpu=mine:NoSchedule, so the pool does not have it"
    ]


def test_tolerations_of_the_flavor_stay():
    text = HAND.replace(STATUS, TAINT + STATUS)
    other = text.replace(
        "{nodeLabels: {gpu: a100}}",
        "{nodeLabels: {gpu: a100}, tolerations: [{key: spot, operator: Exists}]}",
    )
    pool, _, _ = pool_of(other)
    assert [(it.key, it.operator) for it in pool.tolerations] == [
        ("spot", "Exists"),
        ("gpu", "Equal"),
    ]
    same = other.replace(
        "{key: spot, operator: Exists}",
        "{key: gpu, operator: Equal, value: mine, effect: NoSchedule}",
    )
    assert pool_of(same)[0].tolerations is None
