"""Groups of nodes, and what one of them has room for."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from policygen.core.names import HOSTNAME
from policygen.kubernetes.core import TaintView
from policygen.kubernetes.node_groups import (
    USUAL_LABELS,
    Node,
    NodeSet,
    NodeSize,
    Stated,
    knows_label,
    meant_label,
)

A100 = {"cpu": Fraction(96), "nvidia.com/gpu": Fraction(8)}
TAINT = TaintView("gpu", "NoSchedule")


def test_only_labels_that_a_filter_reads_split_a_group():
    nodes = NodeSet(
        Node(f"n{i}", {"pool": "a" if i < 2 else "b", "host": f"n{i}"}, allocatable=A100)
        for i in range(5)
    )
    assert [group.count for group in nodes.groups(frozenset())] == [5]
    assert [group.count for group in nodes.groups(frozenset({"pool"}))] == [2, 3]
    assert [group.labels for group in nodes.groups(frozenset({"pool"}))] == [
        {"pool": "a"},
        {"pool": "b"},
    ]
    assert len(nodes.groups(frozenset({"host"}))) == 5
    assert [group.labels for group in nodes.groups(frozenset({"metadata.name"}))][:1] == [
        {"metadata.name": "n0"}
    ]
    assert nodes.groups(frozenset({"pool"})) is nodes.groups(frozenset({"pool"}))


def test_taints_and_cordons_split_a_group_and_sizes_do_not():
    nodes = NodeSet(
        [
            Node("a", {}, (), A100),
            Node("b", {}, (TAINT,), A100),
            Node("c", {}, (), A100, unschedulable=True),
            Node("d", {}, (), {**A100, "cpu": Fraction(48)}, count=3),
        ]
    )
    groups = nodes.groups(frozenset())
    assert [[node.name for node in group.nodes] for group in groups] == [["a", "d"], ["b"], ["c"]]
    assert [(size.count, size.allocatable["cpu"]) for size in groups[0].sizes] == [(1, 96), (3, 48)]
    assert [size.allocatable["cpu"] for size in groups[0].largest] == [96]


def test_an_unknown_amount_may_be_the_largest():
    nodes = NodeSet([Node("a", {}, (), {"cpu": Fraction(1), "g": Fraction(1)}), Node("b", {}, ())])
    assert len(nodes.groups(frozenset())[0].largest) == 2


def test_domains_are_the_values_of_a_label():
    nodes = [Node("a", {"zone": "1"}), Node("b", {"zone": "2"}), Node("c", {})]
    (group,) = NodeSet(nodes).groups(frozenset())
    assert group.domains("zone") == {"1": 1, "2": 1, None: 1}
    assert group.domains("zone") is group.domains("zone")


def test_unknown_amounts_do_not_bound_the_pods():
    gpu = (("cpu", Fraction(16)), ("nvidia.com/gpu", Fraction(2)))
    assert NodeSize(A100, 1, Stated.ALL).holds(gpu) == 4
    assert NodeSize({**A100, "cpu": Fraction(40)}, 1, Stated.ALL).holds(gpu) == 2
    assert NodeSize({**A100, "pods": Fraction(1)}, 1, Stated.ALL).holds(gpu) == 1
    assert NodeSize(A100, 1, Stated.ALL).holds((("memory", Fraction(1)),)) is None
    assert NodeSize(A100, 1, Stated.ALL).holds((("rdma/hca", Fraction(1)),)) == 0
    assert NodeSize(A100, 1, Stated.PART).holds((("rdma/hca", Fraction(1)),)) is None
    assert NodeSize({}, 1, Stated.WRITTEN).holds(gpu) is None


AMOUNTS = st.dictionaries(st.sampled_from("abc"), st.integers(0, 3).map(Fraction))


@given(st.lists(AMOUNTS, min_size=1, max_size=6))
def test_every_size_is_covered_by_one_of_the_largest(amounts):
    (group,) = NodeSet(Node("n", {}, (), it) for it in amounts).groups(frozenset())
    for size in group.sizes:
        assert any(
            all(large.allocatable.get(name, -1) >= it for name, it in size.allocatable.items())
            for large in group.largest
        )


@pytest.mark.parametrize("stated", [Stated.WRITTEN, Stated.PART])
def test_a_misspelled_label_is_known_to_be_missing(stated):
    node = Node("n", {"gpu-type": "a100", "example.com/rack": "r1"}, stated=stated)
    for key in (
        "kubernetes.io/hostnam",
        "topology.kubernetes.io/zones",
        "gpu-tpye",
        "example.com/racks",
    ):
        assert knows_label(node, key), key
    for key in (
        "kubernetes.io/hostname",
        "node-role.kubernetes.io/gpu",
        "topology.kubernetes.io/zone",
    ):
        assert not knows_label(node, key), key
    for key in ("example.com/rank", "gpu-type2", "other.com/racks", "topology.kubernetes.io/rack"):
        assert knows_label(node, key) == (stated is Stated.WRITTEN), key


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("kubernetes.io/host", HOSTNAME),
        ("kubernetes.io/node", HOSTNAME),
        ("topology.kubernetes.io/hostname", HOSTNAME),
        ("kubernetes.io/zone", "topology.kubernetes.io/zone"),
        ("topology.kubernetes.io/zones", "topology.kubernetes.io/zone"),
        ("node.kubernetes.io/arch", "kubernetes.io/arch"),
        ("kuberntes.io/os", "kubernetes.io/os"),
        ("topology.kubernets.io/zone", "topology.kubernetes.io/zone"),
        ("kuberntes.io/ose", ""),
        ("kubernetas.io/os", ""),
        ("example.com/host", ""),
        ("topology.kubernetes.io/rack", ""),
        ("host", ""),
    ],
)
def test_the_well_known_label_that_is_meant(key, meant):
    assert meant_label(key, USUAL_LABELS) == meant
    assert meant_label(key, [*USUAL_LABELS, key]) == ""


def test_a_region_is_known_to_be_missing_beside_a_zone():
    zone, region = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
    for labels, known in (({}, False), ({zone: "a"}, True)):
        node = Node("n", labels, stated=Stated.WRITTEN)
        assert knows_label(node, region) is known
        assert knows_label(replace(node, stated=Stated.ALL), region)
