"""kube-scheduler's filters. tests/servers/test_node_filters.py compares them with kube-scheduler."""

from fractions import Fraction

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from policygen.kubernetes.core import Requirement, TaintView, TolerationView
from policygen.kubernetes.node_filters import (
    Demand,
    Placed,
    Term,
    TooLittle,
    demand,
    misses,
)
from policygen.kubernetes.node_groups import Node, NodeSet, Stated
from policygen.kubernetes.scheduler_reasons import first_reasons
from tests.objects import workload

GPU = "nvidia.com/gpu"
EIGHT = {"cpu": Fraction(64), "memory": Fraction(512), "pods": Fraction(110), GPU: Fraction(8)}
POD = """
apiVersion: v1
kind: Pod
metadata: {name: a, labels: {app: a}}
spec:
  containers: [{name: main, image: a, resources: {limits: {cpu: 1, nvidia.com/gpu: 2}}}]
"""
NODE_AFFINITY = """
affinity:
  nodeAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      nodeSelectorTerms: %s
"""


def needs(fields=""):
    data = yaml.safe_load(POD)
    data["spec"] |= yaml.safe_load(fields) or {}
    spec = workload(yaml.safe_dump(data)).templates[0].spec
    return demand(spec, spec.requests)


def node(labels=None, taints=(), allocatable=None, **more):
    amounts = EIGHT if allocatable is None else allocatable
    return Node(more.pop("name", "n"), labels or {}, taints, amounts, **more)


def reasons(it, *nodes):
    """The reasons of each group of nodes."""
    return [first_reasons(misses(it, group)) for group in NodeSet(nodes).groups(it.keys)]


@pytest.mark.parametrize(
    "field",
    [
        "nodeName: other",
        NODE_AFFINITY % "[{matchFields: [{key: metadata.name, operator: In, values: [other]}]}]",
    ],
    ids=["nodeName", "matchFields"],
)
def test_the_names_of_nodes_of_a_pool_are_unknown(field):
    assert reasons(needs(field), node(stated=Stated.PART)) == [()]
    assert reasons(needs(field), node()) != [()]


DIFFERS = ("node(s) didn't match Pod's node affinity/selector",)
TAINTED = ("node(s) had untolerated taint(s)",)


@pytest.mark.parametrize(
    ("fields", "labels", "expected"),
    [
        ("", {}, ()),
        ("nodeSelector: {pool: a100}", {"pool": "a100"}, ()),
        ("nodeSelector: {pool: a100}", {"pool": "A100"}, DIFFERS),
        ("nodeSelector: {pool: a100}", {}, DIFFERS),
        (NODE_AFFINITY % "[{}]", {"pool": "a100"}, DIFFERS),
        (NODE_AFFINITY % "[{matchExpressions: [{key: a, operator: Exists}]}]", {"a": ""}, ()),
        (NODE_AFFINITY % "[{matchExpressions: [{key: a, operator: NotIn, values: [b]}]}]", {}, ()),
        (NODE_AFFINITY % "[{matchExpressions: [{key: a, operator: DoesNotExist}]}]", {"a": "b"}, DIFFERS),
        (NODE_AFFINITY % "[{matchExpressions: [{key: a, operator: Gt, values: ['7']}]}]", {"a": "8"}, ()),
        (NODE_AFFINITY % "[{matchExpressions: [{key: a, operator: Gt, values: ['7']}]}]", {"a": "7"}, DIFFERS),
        (NODE_AFFINITY % "[{matchExpressions: [{key: a, operator: Lt, values: ['7']}]}]", {"a": "6"}, ()),
        (NODE_AFFINITY % "[{matchExpressions: [{key: a, operator: Gt, values: ['7']}]}]", {"a": "1_0"}, DIFFERS),
        (
            NODE_AFFINITY % "[{}, {matchExpressions: [{key: a, operator: In, values: [b, c]}]}]",
            {"a": "c"},
            (),
        ),
        (
            NODE_AFFINITY % "[{matchFields: [{key: metadata.name, operator: In, values: [n]}]}]",
            {},
            (),
        ),
        (
            NODE_AFFINITY % "[{matchFields: [{key: metadata.name, operator: NotIn, values: [n]}]}]",
            {},
            DIFFERS,
        ),
        ("nodeName: other", {}, ("node(s) didn't match the requested node name",)),
        ("nodeName: n", {}, ()),
    ],
)  # fmt: skip
def test_labels_and_names(fields, labels, expected):
    assert reasons(needs(fields), node(labels)) == [expected]


@pytest.mark.parametrize(
    ("tolerations", "effect", "expected"),
    [
        ("[]", "NoSchedule", TAINTED),
        ("[]", "NoExecute", TAINTED),
        ("[]", "PreferNoSchedule", ()),
        ("[{operator: Exists}]", "NoExecute", ()),
        ("[{key: gpu, operator: Exists, effect: NoSchedule}]", "NoExecute", TAINTED),
        ("[{key: gpu, value: present}]", "NoSchedule", ()),
        ("[{key: gpu, value: other}]", "NoSchedule", TAINTED),
    ],
)
def test_taints(tolerations, effect, expected):
    it = needs(f"tolerations: {tolerations}")
    assert reasons(it, node(taints=(TaintView("gpu", effect, "present"),))) == [expected]


def test_a_cordoned_node_takes_only_pods_that_tolerate_it():
    it = "tolerations: [{key: node.kubernetes.io/unschedulable, operator: Exists}]"
    assert reasons(needs(), node(unschedulable=True)) == [("node(s) were unschedulable",)]
    assert reasons(needs(it), node(unschedulable=True)) == [()]


def test_resources():
    assert reasons(needs(), node(allocatable={**EIGHT, GPU: Fraction(1)})) == [
        (f"Insufficient {GPU}",)
    ]
    none = {"cpu": Fraction(0), "pods": Fraction(0)}
    assert reasons(needs(), node(allocatable=none)) == [
        ("Too many pods", "Insufficient cpu", f"Insufficient {GPU}")
    ]


def test_of_several_sizes_the_nearest_is_reported():
    small = node(allocatable={**EIGHT, GPU: Fraction(0), "cpu": Fraction(0)})
    large = node(allocatable={**EIGHT, GPU: Fraction(1)}, name="m")
    (group,) = NodeSet([small, large]).groups(frozenset())
    assert misses(needs(), group) == (TooLittle(GPU, Fraction(2), Fraction(1)),)


def test_what_a_node_does_not_state_never_refuses_a_pod():
    part = {"labels": {"pool": "a100"}, "allocatable": {GPU: Fraction(8)}, "stated": Stated.PART}
    assert reasons(needs("nodeSelector: {zone: a}"), node(**part)) == [()]
    assert reasons(needs("nodeSelector: {pool: b}"), node(**part)) == [DIFFERS]
    assert reasons(needs("nodeSelector: {zone: a}"), node(stated=Stated.WRITTEN)) == [DIFFERS]
    written = reasons(needs("nodeSelector: {kubernetes.io/arch: a}"), node(stated=Stated.WRITTEN))
    assert written == [()]
    other = needs("containers: [{name: a, image: a, resources: {limits: {rdma/hca: 1}}}]")
    assert reasons(other, node(**part)) == [()]
    assert reasons(other, node(stated=Stated.WRITTEN)) == [("Insufficient rdma/hca",)]


def test_topologies_need_their_labels():
    spread = """
topologySpreadConstraints:
- {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}
- {maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule}
"""
    missing = "node(s) didn't match pod topology spread constraints (missing required label)"
    assert reasons(needs(spread), node(), node({"zone": "a"})) == [(missing,), ()]
    together = """
affinity:
  podAffinity:
    requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone}]
"""
    assert reasons(needs(together), node()) == [("node(s) didn't match pod affinity rules",)]


# Groups

LABELS = st.dictionaries(st.sampled_from("ab"), st.sampled_from(["1", "2", "x"]))
TAINTS = st.builds(
    TaintView, st.sampled_from("kl"), st.sampled_from(["NoSchedule", "PreferNoSchedule"])
)
AMOUNTS = st.dictionaries(
    st.sampled_from(["cpu", "pods", GPU, "a.com/x"]), st.integers(0, 4).map(Fraction)
)
NODES = st.lists(
    st.builds(
        Node,
        st.sampled_from("nmo"),
        LABELS,
        st.lists(TAINTS, max_size=2).map(tuple),
        AMOUNTS,
        unschedulable=st.booleans(),
        count=st.integers(1, 3),
        stated=st.sampled_from(Stated),
    ),
    min_size=1,
    max_size=8,
)
PLACED = st.builds(
    Placed,
    st.just(()),
    st.builds(
        Requirement,
        st.sampled_from(["a", "b", "metadata.name"]),
        st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]),
        st.sampled_from(["1", "2", "n"]).map(lambda value: (value,)),
    ),
)
DEMANDS = st.builds(
    Demand,
    AMOUNTS.map(lambda found: tuple(sorted((name, it) for name, it in found.items() if it))),
    st.lists(PLACED, max_size=2).map(tuple),
    st.none()
    | st.lists(st.builds(Term, st.just(()), st.lists(PLACED, max_size=2).map(tuple)), max_size=2).map(tuple),
    st.lists(st.builds(TolerationView, st.sampled_from("kl"), st.just("Exists")), max_size=2).map(tuple),
    st.sampled_from(["", "", "n"]),
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(NODES, DEMANDS)
def test_a_group_takes_a_pod_if_one_of_its_nodes_does(nodes, it):
    keys = it.keys | {"metadata.name"}
    alone = [not misses(it, NodeSet([one]).groups(keys)[0]) for one in nodes]
    groups = NodeSet(nodes).groups(it.keys)
    assert sum(group.count for group in groups) == sum(one.count for one in nodes)
    taken = {id(one) for one, takes in zip(nodes, alone, strict=True) if takes}
    for group in groups:
        assert (not misses(it, group)) == any(id(one) in taken for one in group.nodes)


def test_a_named_node_refuses_pods_only_by_no_execute():
    """No scheduler filters them, and the kubelet reads only this effect."""
    closed = node({}, unschedulable=True, taints=(TaintView("a", "NoSchedule"),))
    assert reasons(needs("nodeName: n"), closed) == [()]
    assert reasons(needs("nodeName: other"), closed) != [()]
    emptied = node({}, taints=(TaintView("a", "NoExecute"),))
    assert reasons(needs("nodeName: n"), emptied) == [TAINTED]
