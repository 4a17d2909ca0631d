"""A cycle: what it admits, and which workloads are marked because a tie decided about them."""

from random import Random

import pytest
from msgspec.structs import replace

from policygen.simulate.kueue.assignment import FlavorAssignment, Mode
from policygen.simulate.kueue.build import Shape
from policygen.simulate.kueue.cycle import run
from policygen.simulate.kueue.entry import CycleEntry, Outcome
from policygen.simulate.kueue.queue import ANY
from policygen.simulate.kueue.state import FINAL_SHARE
from policygen.simulate.kueue.topology import (
    HOSTNAME,
    FlavorTopology,
    TopologyNode,
    TopologyPlacement,
    TopologyRequest,
)
from policygen.simulate.kueue.workload import PodSet
from tests.simulate.kueue import trees

SHAPE = Shape((), (), ())


def _outcomes(state, *workloads):
    for it in workloads:
        state.queue_of(it).pending.push(it)
    return {entry.workload.name: entry.outcome for entry in run(state, 0.0)}


def _three(free, **settings):
    """Three queues of a cohort that share a quota."""
    nodes = [trees.queue(name, 0) for name in "abc"]
    return trees.state(trees.cohort("root", *nodes, nominal=free), *nodes, **settings)


def test_a_tie_decides_who_gets_the_last_quota_and_all_it_matters_for_are_marked():
    """b and c tie for the quota that a, which is older, leaves."""
    a, b, c = (
        trees.workload(name, name, created=time) for name, time in (("a", 0), ("b", 1), ("c", 1))
    )
    outcomes = _outcomes(_three(2), a, b, c)
    assert outcomes["n/a"] is Outcome.ADMITTED
    assert {outcomes["n/b"], outcomes["n/c"]} == {Outcome.ADMITTED, Outcome.NO_LONGER_FITS}
    assert [it.either for it in (a, b, c)] == [False, True, True]


def test_a_tie_without_an_effect_marks_nothing():
    state = _three(3)
    found = [trees.workload(name, name) for name in "abc"]
    assert set(_outcomes(state, *found).values()) == {Outcome.ADMITTED}
    assert not any(it.either for it in found)


def test_chance_decides_ties_and_the_same_seed_decides_alike():
    def winner(seed):
        state = _three(1)
        state.chance = Random(seed)
        outcomes = _outcomes(state, *(trees.workload(name, name) for name in "abc"))
        return next(name for name, it in outcomes.items() if it is Outcome.ADMITTED)

    winners = [winner(seed) for seed in range(20)]
    assert winners == [winner(seed) for seed in range(20)]
    assert set(winners) == {"n/a", "n/b", "n/c"}


def test_equal_shares_and_times_tie_with_fair_sharing():
    state = _three(2, strategies=(FINAL_SHARE,))
    young, *tied = (trees.workload(name, name, created=float(name == "a")) for name in "abc")
    outcomes = _outcomes(state, young, *tied)
    assert outcomes["n/a"] is Outcome.NO_LONGER_FITS
    assert not any(it.either for it in (young, *tied))
    state = _three(1, strategies=(FINAL_SHARE,))
    found = [trees.workload(name, name) for name in "ab"]
    _outcomes(state, *found)
    assert all(it.either for it in found)


def test_workloads_of_different_trees_do_not_tie():
    nodes = [trees.queue(name, 1) for name in "ab"]
    state = trees.state(nodes[0], *nodes)
    for node in nodes:
        trees.settle(node)
    found = [trees.workload(name, name) for name in "ab"]
    assert set(_outcomes(state, *found).values()) == {Outcome.ADMITTED}
    assert not any(it.either for it in found)


def _on_nodes(*amounts):
    """Queues `a` and `b` without a cohort, and hosts `n0`, `n1` and so on with so many GPUs."""
    nodes = [trees.queue(name, 9) for name in "ab"]
    state = trees.state(nodes[0], *nodes)
    for node in nodes:
        trees.settle(node)
    hosts = [
        TopologyNode({HOSTNAME: f"n{i}"}, (), {"gpu": amount, "pods": 9})
        for i, amount in enumerate(amounts)
    ]
    state.topologies["f"] = FlavorTopology("t", (HOSTNAME,), hosts, (), {})
    state.topology_aware = True
    return state


def _pinned(name, count):
    """A workload whose pods of one GPU run on one host."""
    found = trees.workload(name, name)
    request = TopologyRequest(HOSTNAME, required=True)
    found.pod_sets = (
        PodSet("main", count, (("gpu", 1),), topology=request, per_pod=(("gpu", 1),), shape=SHAPE),
    )
    return found


def test_the_order_of_two_trees_is_a_tie_if_they_share_nodes():
    """Both are admitted, but the first takes the smaller host, and the other the larger one."""
    found = [_pinned(name, 2) for name in "ab"]
    assert set(_outcomes(_on_nodes(2, 3), *found).values()) == {Outcome.ADMITTED}
    assert all(it.either for it in found)


def test_each_order_begins_with_what_was_nominated_before_the_cycle():
    """The second is placed again behind the first, and this is forgotten when the order changes."""
    found = [_pinned(name, 3) for name in "ab"]
    outcomes = _outcomes(_on_nodes(2, 3), *found)
    assert sorted(it.value for it in outcomes.values()) == ["admitted", "no-candidates"]
    assert all(it.either for it in found)
    admitted = next(it for it in found if it.admission is not None)
    (pods,) = admitted.admission.pod_sets
    assert pods.placement.pods == {"n1": 3}


def test_a_workload_that_fits_only_before_another_one_ties_with_it():
    """Fewer pods of `b` fit until `a` has taken the host. All its pods are above its quota."""
    found = [_pinned(name, 2) for name in "ab"]
    (pods,) = found[1].pod_sets
    found[1].pod_sets = (replace(pods, count=10, min_count=2),)
    outcomes = _outcomes(_on_nodes(3), *found)
    assert sorted(it.value for it in outcomes.values()) == ["admitted", "no-fit"]
    assert all(it.either for it in found)


@pytest.mark.parametrize("placements", [{}, {"main": TopologyPlacement("f", {"n0": 1}, {})}])
def test_without_victims_only_domains_depend_on_the_place_in_the_order(placements):
    state = _three(0, reclaim_within_cohort=ANY)
    found = trees.workload("a", "a")
    assignment = FlavorAssignment(forced=Mode.PREEMPT, placements=placements)
    assert CycleEntry(found, state.queues["a"], assignment=assignment).passive is (not placements)
