"""The nodes that come nearest to taking a pod."""

from difflib import SequenceMatcher

from hypothesis import given, settings
from hypothesis import strategies as st

from policygen.kubernetes.accelerators import is_one
from policygen.kubernetes.node_filters import (
    Differs,
    NoTerm,
    NotTolerated,
    OtherName,
    TooLittle,
    misses,
)
from policygen.kubernetes.node_groups import NodeSet
from policygen.kubernetes.node_index import NodeIndex
from policygen.lint.core.near_nodes import NearestNodes
from policygen.lint.core.pod_demands import PodDemand, Way
from tests.kubernetes.test_node_index import demands, nodes


def distance(missed, count):
    """As the rule defines it: devices that are missing, then changes, unlike values, and nodes."""
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
    return len(without), len(subjects), unlike, -count


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
    it = PodDemand(None, None, tuple(map(Way, ways)), 1)
    search = NearestNodes(index)
    found = search.of(it)
    counts = {}
    for number, demand in enumerate(ways):
        for group in index.nodes.groups(demand.keys):
            key = number, misses(demand, group)
            counts[key] = counts.get(key, 0) + group.count
    if any(index.takers(demand) for demand in ways):
        assert found is None
        return
    missed = found.misses
    assert counts[it.ways.index(found.way), missed] == found.count
    if not any(is_selected(ways[number], each) for number, each in counts):
        nearest = min(distance(each, count) for (_, each), count in counts.items())
        assert distance(missed, found.count) == nearest
    assert search.of(it).groups == found.groups
