"""The nodes that come nearest to taking a pod."""

from difflib import SequenceMatcher
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policygen.kubernetes.accelerators import is_one
from policygen.kubernetes.core import TaintView
from policygen.kubernetes.node_filters import (
    Demand,
    Differs,
    NoTerm,
    NotTolerated,
    OtherName,
    TooLittle,
    misses,
)
from policygen.kubernetes.node_groups import Node, NodeSet
from policygen.kubernetes.node_index import NodeIndex
from policygen.lint.core.near_nodes import NearestNodes
from policygen.lint.core.pod_demands import PodDemand, Way
from tests.kubernetes.test_node_index import demands, nodes


def distance(missed, count, wastes):
    """As the rule defines it: devices that are missing, changes, unlike values, unused devices, and nodes."""
    subjects = {
        it.placed.requirement.key if isinstance(it, Differs)
        else it.taint if isinstance(it, NotTolerated)
        else type(it)
        for it in missed
    }  # fmt: skip
    without = [
        it for it in missed if isinstance(it, TooLittle) and not it.have and is_one(it.resource)
    ]
    unlike = sum(unlikeness(it) for it in missed if isinstance(it, Differs))
    return len(without), len(subjects), unlike, wastes, -count


def wastes_devices(demand, group):
    wants = any(is_one(name) for name, _ in demand.requests)
    return not wants and any(is_one(name) for it in group.nodes for name in it.allocatable)


def unlikeness(miss):
    values = miss.placed.requirement.values
    if miss.value is None or not values:
        return 1.0
    return 1 - max(SequenceMatcher(None, it.lower(), miss.value.lower()).ratio() for it in values)


def is_selected(demand, missed):
    others = any(isinstance(it, Differs | NoTerm | OtherName) for it in missed)
    return bool(demand.selector or demand.terms) and not others


@settings(max_examples=200)
@given(st.lists(nodes(), min_size=1, max_size=6), st.lists(demands(), min_size=1, max_size=2))
def test_no_other_nodes_are_nearer(all_nodes, ways):
    index = NodeIndex(NodeSet(all_nodes))
    it = PodDemand(None, None, tuple(map(Way, ways)), 1, 1)
    search = NearestNodes(index)
    found = search.of(it)
    counts, wasting = {}, {}
    for number, demand in enumerate(ways):
        for group in index.nodes.groups(demand.keys):
            key = number, misses(demand, group)
            counts[key] = counts.get(key, 0) + group.count
            wasting[key] = wasting.get(key, False) or wastes_devices(demand, group)
    if any(index.takers(demand) for demand in ways):
        assert found is None
        return
    missed = found.misses
    assert counts[it.ways.index(found.way), missed] == found.count
    if not any(is_selected(ways[number], each) for number, each in counts):
        nearest = min(distance(it[1], count, wasting[it]) for it, count in counts.items())
        key = it.ways.index(found.way), missed
        assert distance(missed, found.count, wasting[key]) == nearest
    assert search.of(it).groups == found.groups


NODE = Node("cpus", {}, allocatable={"cpu": Fraction(8)})
GPU = "nvidia.com/gpu"
GPU_NODE = Node(
    "gpus", {}, (TaintView("gpu", effect="NoSchedule"),), {"cpu": Fraction(64), GPU: Fraction(8)}
)


@pytest.mark.parametrize("every", [(NODE, GPU_NODE), (GPU_NODE, NODE)])
def test_pods_without_gpus_are_not_sent_to_nodes_with_gpus(every):
    demand = Demand(requests=(("cpu", Fraction(9)),))
    found = NearestNodes(NodeIndex(NodeSet(every))).of(PodDemand(None, None, (Way(demand),), 1, 1))
    assert [node.name for group in found.groups for node in group.nodes] == ["cpus"]
