"""Nodes found from sums: the plan computes the same amounts from each shape."""

from itertools import islice

import pytest

from policygen.adopt.capacity import NodeNeed, PodShare, best, shapes
from policygen.core.finding import At
from policygen.plan.pool import resolve
from policygen.spec.types import Pool, Spec

GI = 1 << 30


def computed(shape):
    pool = Pool("p", At(0), (("a", "b"),), gpu=shape.gpu, capacity=shape.capacity)
    facts, _ = resolve(Spec(pools=(pool,)))
    return dict(facts["p"].available), facts["p"].units_per_node


@pytest.mark.parametrize(
    "available",
    [
        {"cpu": 96_000, "memory": 768 * GI, "nvidia.com/gpu": 8},
        {"cpu": 7, "memory": 3 << 20, "nvidia.com/gpu": 21},
        {"cpu": 13, "memory": 41 * GI, "example.com/card": 110_000},
        {"cpu": 1000, "memory": GI, "nvidia.com/mig-1g.10gb": 14, "nvidia.com/mig-3g.40gb": 3},
        {"cpu": 1000, "memory": GI, "nvidia.com/mig-1g.10gb.me": 5},
    ],
)
def test_the_plan_computes_the_amounts_of_each_shape(available):
    found = list(islice(shapes(available), 20))
    assert found
    for shape in found:
        amounts, units = computed(shape)
        assert amounts == available
        assert units == shape.units_per_node


def test_the_most_usual_node_comes_first():
    first = next(shapes({"cpu": 96_000, "memory": 768 * GI, "nvidia.com/gpu": 64}))
    assert (first.gpu.per_node, first.capacity.nodes) == (8, 8)


def test_nodes_hold_what_pods_need():
    available = {"cpu": 128_000, "memory": 64 * GI, "nvidia.com/gpu": 16}
    assert best(available, NodeNeed(units=16), lambda _: 0).gpu.per_node == 16
    assert best(available, NodeNeed(cpu_milli=100_000), lambda _: 0).gpu.per_node == 16


def test_the_rank_decides_among_shapes():
    available = {"cpu": 64_000, "memory": 64 * GI, "nvidia.com/gpu": 16}
    assert best(available, NodeNeed(), lambda units: units != 4).gpu.per_node == 4


def test_amounts_without_a_gpu_have_no_shape():
    assert best({"cpu": 1000, "memory": GI}, NodeNeed(), lambda _: 0) is None


def test_cards_are_shared_if_nodes_of_complete_cards_hold_too_little():
    available = {"cpu": 13_356, "memory": 9 << 20, "nvidia.com/gpu": 72_000}
    found = best(available, NodeNeed(memory_bytes=1 << 20), lambda _: 0)
    assert (found.gpu.sharing, found.capacity.node_allocatable.memory_bytes >= 1 << 20) == (
        "timeSlicing",
        True,
    )


def test_nodes_hold_a_pod_whose_cpu_no_quota_counts():
    found = best({"nvidia.com/gpu": 2}, NodeNeed(cpu_milli=500_000), lambda _: 0)
    assert found.capacity.node_allocatable.cpu_milli == 500_000


def test_gpus_are_instances_if_only_these_make_the_size_of_packed_nodes():
    """36 nodes of 96 cores with 458 GPUs: no whole number of equal cards."""
    available = {"cpu": 3_456_000, "memory": 96 << 20, "nvidia.com/gpu": 458}
    pods = (PodShare("nvidia.com/gpu", 8, 60_000, 0),)
    need = NodeNeed(units=8, cpu_milli=60_000, shares=pods)
    found = best(available, need, lambda units: 0 if units == 14 else 2, packed=True)
    assert (found.gpu.mig_strategy, found.capacity.nodes) == ("single", 36)
    assert computed(found)[0] == available
