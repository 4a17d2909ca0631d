"""Which nodes take a pod: the indexes answer as the filters of each node."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from policygen.core.names import NODE_NAME
from policygen.kubernetes.core import Requirement, TaintView, TolerationView
from policygen.kubernetes.node_filters import Demand, Domain, Placed, Term, hard_taints, misses
from policygen.kubernetes.node_groups import Node, NodeSet, Stated, knows_label
from policygen.kubernetes.node_index import NodeIndex

KEYS = ("pool", "Pool", "zone", "topology.kubernetes.io/zone")
VALUES = ("a", "b", "3", "7")
amounts = st.sampled_from([Fraction(0), Fraction(1), Fraction(3, 2), Fraction(8), Fraction(1, 3)])
effects = st.sampled_from(["NoSchedule", "NoExecute", "PreferNoSchedule"])
taints = st.builds(
    TaintView,
    st.sampled_from(["gpu", "node.kubernetes.io/unschedulable"]),
    effects,
    st.sampled_from(["", "x"]),
)
resources = st.dictionaries(st.sampled_from(["cpu", "pods", "nvidia.com/gpu", "x.com/a"]), amounts)


@st.composite
def nodes(draw):
    return Node(
        draw(st.sampled_from(["n1", "n2", "n3"])),
        draw(st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES))),
        tuple(draw(st.lists(taints, max_size=2))),
        draw(resources),
        unschedulable=draw(st.booleans()),
        stated=draw(st.sampled_from(Stated)),
        together=draw(st.sampled_from([{}, {"nvidia.com/gpu": Fraction(9)}])),
    )


@st.composite
def requirements(draw, keys=KEYS):
    operator = draw(st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Has"]))
    values = tuple(draw(st.lists(st.sampled_from(VALUES), max_size=2)))
    return Placed((), Requirement(draw(st.sampled_from(keys)), operator, values))


@st.composite
def demands(draw):
    terms = st.builds(
        Term, st.just(()), st.lists(requirements((*KEYS, NODE_NAME)), max_size=2).map(tuple)
    )
    tolerations = st.builds(
        TolerationView,
        key=st.sampled_from([None, "gpu", "node.kubernetes.io/unschedulable"]),
        operator=st.sampled_from([None, "Equal", "Exists"]),
        value=st.sampled_from([None, "x"]),
        effect=st.sampled_from([None, "NoSchedule"]),
    )
    return Demand(
        requests=tuple(sorted((name, it) for name, it in draw(resources).items() if it)),
        selector=tuple(draw(st.lists(requirements(), max_size=2))),
        terms=draw(st.none() | st.lists(terms, max_size=2).map(tuple)),
        tolerations=tuple(draw(st.lists(tolerations, max_size=2))),
        node_name=draw(st.sampled_from(["", "", "n1"])),
        domains=tuple(
            draw(st.lists(st.builds(Domain, st.just(()), st.sampled_from(KEYS)), max_size=1))
        ),
    )


@given(st.lists(nodes(), max_size=6), demands())
def test_takers_are_the_nodes_that_no_filter_refuses(all_nodes, demand):
    index = NodeIndex(NodeSet(all_nodes))
    one = [NodeSet([node]).groups(demand.keys)[0] for node in all_nodes]
    taking = [i for i, group in enumerate(one) if not misses(demand, group)]
    assert index.takers(demand) == sum(1 << i for i in taking)
    certain = [
        i
        for i, group in enumerate(one)
        if all(key in group.labels or group.knows(key) for key in demand.keys)
    ]
    assert index.certain(demand) == sum(1 << i for i in certain)
    tolerated = [i for i, node in enumerate(all_nodes) if not any(hard_taints(demand, node.taints))]
    assert index.tolerated(demand) == sum(1 << i for i in tolerated)


@given(st.lists(nodes(), max_size=6))
def test_groups_have_the_bits_of_their_nodes(all_nodes):
    index = NodeIndex(NodeSet(all_nodes))
    groups = index.nodes.groups(frozenset(KEYS))
    assert [[*map(id, group.nodes)] for group in groups] == [
        [id(node) for _, node in index.entries(group.bits)] for group in groups
    ]
    assert sum(group.bits for group in groups) == index.all


@given(st.lists(nodes(), max_size=6), st.integers(0, 63), st.sampled_from(KEYS))
def test_a_domain_has_all_nodes_with_a_value(all_nodes, some, key):
    index = NodeIndex(NodeSet(all_nodes))
    values = {it.labels.get(key) for i, it in enumerate(all_nodes) if some >> i & 1} - {None}
    inside = [i for i, it in enumerate(all_nodes) if it.labels.get(key) in values]
    assert index.domain(some & index.all, key) == sum(1 << i for i in inside)
    unknown = [
        i for i, it in enumerate(all_nodes) if key not in it.labels and not knows_label(it, key)
    ]
    assert index.unknown(key) == sum(1 << i for i in unknown)


def test_room_and_levels():
    plain = Node("n1", {}, allocatable={"x.com/a": Fraction(4)})
    pool = Node("p", {}, allocatable={"x.com/a": Fraction(2)}, count=3, stated=Stated.PART)
    mig = Node(
        "m",
        {},
        allocatable={"x.com/a": Fraction(7)},
        count=2,
        stated=Stated.PART,
        together={"x.com/a": Fraction(9)},
    )
    index = NodeIndex(NodeSet([plain, pool, mig]))
    two = Demand(requests=(("x.com/a", Fraction(2)),))
    assert index.has_room(two, 0b011, 5)
    assert not index.has_room(two, 0b011, 6)
    assert not index.has_room(two, 0b100, 1)
    levels = index.levels("x.com/a")
    assert [(it.nodes, it.most, it.have, it.number, it.count) for it in levels.known] == [
        (0b001, 4, 4, 1, 1), (0b010, 2, 2, 3, 3), (0b100, 7, 9, 1, 2),
    ]  # fmt: skip
    assert index.levels("cpu").unknown == 0b111
