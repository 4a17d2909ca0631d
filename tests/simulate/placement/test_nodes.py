"""What pods hold on nodes."""

from msgspec.structs import replace

from policygen.simulate.placement.nodes import NodeTable
from tests.simulate.placement.made import GIBI, node, shape


def test_columns_follow_the_pods():
    nodes = NodeTable([node("a"), node("b")])
    pod = shape()
    nodes.add(1, pod)
    nodes.add(1, pod)
    assert nodes.free("cpu") == [4000, 2000]
    nodes.remove(1, pod)
    assert nodes.free("cpu") == [4000, 3000]
    assert nodes.free("memory") == [8 * GIBI, 6 * GIBI]
    assert nodes.free("pods") == [110, 109]
    assert nodes.pods[1] == {pod: 1}
    assert nodes.held == {pod: {1: 1}}
    assert nodes.versions == [0, 3]
    nodes.remove(1, pod)
    assert nodes.held == {}
    nodes.add(1, pod)
    assert nodes.changed == [1, 1, 1, 1, 1]


def test_a_container_without_a_request_counts_with_a_default_only_in_scores():
    nodes = NodeTable([node()])
    nodes.add(0, shape(cpu="", memory=""))
    assert nodes.free("cpu") == [4000]
    assert nodes.spare("cpu") == [3900]
    assert nodes.spare("memory") == [8 * GIBI - (200 << 20)]


def test_equal_nodes_are_split():
    nodes = NodeTable([replace(node("pool"), count=2), node("a")])
    assert [it.name for it in nodes.all] == ["pool-0", "pool-1", "a"]


def test_derived_numbers_are_unknown_after_a_change():
    nodes = NodeTable([node("a"), node("b")])
    nodes.derived("x")[:] = [5, 6]
    nodes.add(0, shape())
    assert nodes.derived("x") == [-1, 6]


def test_topologies():
    nodes = NodeTable([node("a", zone="z"), node("b", zone="z"), node("c")])
    zone, host = (
        nodes.topology(it) for it in ("topology.kubernetes.io/zone", "kubernetes.io/hostname")
    )
    assert (zone.values, zone.unique) == (["z", "z", None], False)
    assert (host.values, host.unique) == (["a", "b", "c"], True)


def test_the_log_of_changes_begins_anew():
    nodes = NodeTable([node()])
    nodes.add(0, shape())
    nodes.forget()
    assert (nodes.changed, nodes.changes) == ([], [])
