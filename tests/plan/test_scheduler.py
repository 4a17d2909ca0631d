"""Packing profiles: the inequality, by formula and by trying every pair of nodes."""

import pytest
from msgspec.structs import replace

from policygen.plan.scheduler import CONFIGURATION, Dominance, choose


def score(gpus, host, units, dominance):
    """MostAllocated, from most_allocated.go: floored terms, floored mean. `host`: 0 to 100."""
    weight = dominance.gpu_weight + dominance.other_weight
    gpu = dominance.gpu_weight * (100 * gpus // units)
    return (gpu + dominance.other_weight * host) // weight


@pytest.mark.parametrize("units", [1, 2, 4, 7, 8, 10, 16, 25, 26, 32, 56, 64, 100])
def test_one_more_gpu_in_use_outweighs_any_host(units):
    dominance = choose(units)
    assert dominance.margin > 0
    for gpus in range(1, units):
        fuller = score(gpus + 1, 0, units, dominance)
        emptier = score(gpus, 100, units, dominance)
        assert fuller - emptier >= dominance.gain > 0


@pytest.mark.parametrize("units", [2, 8, 16])
def test_the_weight_is_the_least_that_dominates(units):
    dominance = choose(units)
    lower = replace(dominance, gpu_weight=dominance.gpu_weight - 1)
    assert lower.gain <= 0 < dominance.gain


def test_by_hand_for_eight_gpus():
    # 100 // 8 = 12 points a GPU: g × 11 ≥ 202, so g = 19; 19 × 12 - 200 = 28 of 21
    dominance = choose(8)
    assert (dominance.gpu_weight, dominance.other_weight) == (19, 2)
    assert dominance.gain == 1
    assert dominance.margin == 10


def test_many_units_leave_no_room_for_cpu_and_memory():
    assert choose(26).other_weight == 0
    assert choose(25).other_weight == 2


def test_above_a_hundred_units_it_packs_weakly(planned, pool, team):
    assert choose(101).margin == 0
    shared = pool().replace("memory: 80Gi", "memory: 80Gi\n    sharing: mps\n    replicas: 16")
    done = planned(shared, team("a"))
    assert "profile-packs-weakly" in done.rules


def profiles(done):
    configuration = done.plan.file(CONFIGURATION)
    return {it.scheduler_name: it for it in configuration.fields.profiles} if configuration else {}


def test_packing_profile_takes_the_largest_pool_and_every_resource(planned, pool, team):
    small = pool().replace("perNode: 8", "perNode: 4")
    other = pool("q").replace("memory: 80Gi", "memory: 80Gi\n    resource: example.com/npu")
    profile = profiles(planned(small, other, team("a")))["default.binpack"]
    assert [(it.name, it.weight) for it in profile.resources] == [
        ("example.com/npu", 19), ("nvidia.com/gpu", 19), ("cpu", 1), ("memory", 1),
    ]  # fmt: skip
    assert profile.strategy == "MostAllocated"
    assert profile.quiet_spreading


def test_spreading_profile(planned, pool, team):
    done = planned(pool(more="schedulingPolicy: {spread: true}"), team("a"))
    assert list(profiles(done)) == ["default.spread"]
    profile = profiles(done)["default.spread"]
    assert profile.strategy == "LeastAllocated"
    assert not profile.quiet_spreading


def test_neither_leaves_the_scheduler_as_it_is(planned, pool, team):
    done = planned(pool(more="schedulingPolicy: {binPack: false}"), team("a"))
    assert profiles(done) == {}


def test_volcano_pools_have_no_profile(planned, pool, team):
    assert profiles(planned(pool(scheduler="volcano"), team("a"))) == {}


def test_a_pools_own_policy_wins_over_the_platforms(planned, pool, team):
    platform = """
    apiVersion: policygen.dev/v1alpha1
    kind: Platform
    metadata: {name: set}
    spec: {defaults: {schedulingPolicy: {binPack: true}}}
    """
    done = planned(platform, pool(more="schedulingPolicy: {spread: true}"), team("a"))
    assert list(profiles(done)) == ["set.spread"]


@pytest.mark.parametrize(("units", "others"), [(8, 2), (16, 2), (28, 1), (28, 2), (56, 1)])
def test_the_least_weight_is_the_smallest_that_packs(units, others):
    gains = {weight: Dominance(units, weight, others, 1).gain for weight in range(1, 101)}
    packs = [weight for weight, gain in gains.items() if gain > 0]
    assert Dominance(units, 1, others, 1).least_weight == min(packs, default=None)
