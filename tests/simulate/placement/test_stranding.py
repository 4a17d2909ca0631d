"""Pods that wait while GPUs are free."""

from policygen.core.names import GPU
from policygen.simulate.placement.profile import Profile, Strategy
from policygen.simulate.placement.stranding import packing_profile, stranding
from tests.simulate.placement.made import node, shape

NODES = [node(name, cpu=64, memory=512, gpus=8) for name in "ab"]
SMALL, LARGE = shape(gpus=1), shape(gpus=8)


def test_spread_pods_leave_no_node_for_a_large_one():
    """Listed after the large pod, the small ones start first all the same."""
    found = stranding(NODES, Profile(), [(LARGE, 1), (SMALL, 2)])
    assert found is not None
    assert (found.now.waiting, found.now.free) == ({LARGE: 1}, {GPU: 14})
    assert (found.packed.waiting, found.packed.free) == ({}, {})


def test_free_gpus_of_nodes_that_the_pods_cannot_use_do_not_count():
    tainted = node("c", cpu=64, memory=512, gpus=8, taints=["NoSchedule"])
    found = stranding([*NODES, tainted], Profile(), [(LARGE, 1), (SMALL, 2)])
    assert found is not None
    assert found.now.free == {GPU: 14}


def test_nothing_is_stranded_if_all_pods_run_or_packing_does_not_help():
    assert stranding(NODES, Profile(), [(SMALL, 2), (shape(gpus=4), 2)]) is None
    assert stranding(NODES, Profile(), [(SMALL, 9), (LARGE, 1)]) is None
    assert stranding([], Profile(), [(SMALL, 1), (LARGE, 1)]) is None


def test_a_packing_profile_strands_nothing():
    profile = packing_profile(Profile(), [GPU])
    assert stranding(NODES, profile, [(SMALL, 8), (LARGE, 1)]) is None
    assert profile.strategy == Strategy(((GPU, 1),), most=True)


def test_pods_of_one_shape_wait_together():
    found = stranding(NODES, Profile(), [(SMALL, 2), (LARGE, 3)])
    assert found is not None
    assert (found.now.count, found.packed.count) == (3, 2)
