"""In which racks and on which hosts pods run, computed by hand."""

from collections import Counter

import pytest

from policygen.kubernetes.core import TaintView
from policygen.simulate.kueue.build import Shape
from policygen.simulate.kueue.topology import (
    HOSTNAME,
    FlavorTopology,
    PlacementRequest,
    TopologyNode,
    TopologyRequest,
)

ANY = Shape((), (), ())


def _topology(**free):
    """Hosts `a1`, `a2`, `b1` and so on in racks `a` and `b`, each with this number of free GPUs."""
    nodes = [
        TopologyNode({"rack": name[0], HOSTNAME: name}, (), {"gpu": gpus, "pods": 110})
        for name, gpus in free.items()
    ]
    return FlavorTopology("t", ("rack", HOSTNAME), nodes, (), {})


def _placed(topology, request, count, gpus=1, shape=ANY):
    wanted = PlacementRequest("main", "f", request, count, {"gpu": gpus}, shape)
    placement, reason = topology.place(wanted, {}, empty=False)
    return dict(placement.pods) if placement else reason


def test_the_tightest_rack_that_holds_all_pods_and_few_hosts():
    """Rack b holds 4 and a 8; in b, one host holds all."""
    topology = _topology(a1=4, a2=4, b1=1, b2=3)
    assert _placed(topology, TopologyRequest("rack", required=True), 3) == {"b2": 3}
    assert _placed(topology, TopologyRequest("rack", required=True), 4) == {"b1": 1, "b2": 3}
    assert _placed(topology, TopologyRequest("rack", required=True), 5) == {"a1": 4, "a2": 1}


def test_preferred_goes_up_a_level_or_to_several_domains():
    topology = _topology(a1=2, a2=2, b1=2)
    assert _placed(topology, TopologyRequest(HOSTNAME), 3) == {"a1": 2, "a2": 1}
    assert _placed(topology, TopologyRequest("rack"), 6) == {"a1": 2, "a2": 2, "b1": 2}


def test_required_names_how_many_fit():
    topology = _topology(a1=2, b1=0)
    assert _placed(topology, TopologyRequest("rack", required=True), 3) == (
        'topology "t" allows to fit only 2 out of 3 pod(s). Total nodes: 2; '
        'excluded: resource "gpu": 1'
    )


def test_unconstrained_fills_the_fullest_host_first():
    topology = _topology(a1=4, a2=1, b1=2)
    assert _placed(topology, TopologyRequest(unconstrained=True), 2) == {"b1": 2}
    assert _placed(topology, TopologyRequest(unconstrained=True), 5) == {"a1": 2, "a2": 1, "b1": 2}


def test_slices_stay_together():
    """Two pods of a slice share a host; a1 holds one slice, b1 two."""
    topology = _topology(a1=3, b1=4)
    request = TopologyRequest(slice_level=HOSTNAME, slice_size=2, unconstrained=True)
    assert _placed(topology, request, 6) == {"a1": 2, "b1": 4}


def test_usage_counts_pods_too():
    nodes = [TopologyNode({HOSTNAME: "a"}, (), {"gpu": 8, "pods": 3})]
    topology = FlavorTopology("t", (HOSTNAME,), nodes, (), {"a": Counter(gpu=1, pods=2)})
    request = TopologyRequest(HOSTNAME, required=True)
    assert _placed(topology, request, 1) == {"a": 1}
    assert _placed(topology, request, 2).startswith('topology "t" allows to fit only 1 out of 2')


@pytest.mark.parametrize(
    ("shape", "reason"),
    [
        (Shape((("zone", "x"),), (), ()), "nodeSelector: 1"),
        (ANY, 'taint "gpu=yes:NoSchedule": 1'),
    ],
)
def test_nodes_that_pods_do_not_match_are_excluded(shape, reason):
    taints = () if shape.selector else (TaintView("gpu", "NoSchedule", "yes"),)
    nodes = [TopologyNode({HOSTNAME: "a"}, taints, {"gpu": 8, "pods": 3})]
    topology = FlavorTopology("t", (HOSTNAME,), nodes, (), {})
    words = _placed(topology, TopologyRequest(HOSTNAME), 1, shape=shape)
    assert words.endswith(f"excluded: {reason}")
