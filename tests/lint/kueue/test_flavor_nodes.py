"""The nodes of a flavor, and flavors of the same nodes."""

from fractions import Fraction

from policygen.lint.kueue.flavor_nodes import nodes, overlaps
from tests.objects import cluster


def node(name, labels, gpus):
    return (
        f"{{apiVersion: v1, kind: Node, metadata: {{name: {name}, labels: {{{labels}}}}}, "
        f"status: {{allocatable: {{gpu: {gpus}}}}}}}\n---\n"
    )


def flavor(name, labels, taints=""):
    return (
        f"{{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {{name: {name}}}, "
        f"spec: {{nodeLabels: {{{labels}}}, nodeTaints: [{taints}]}}}}\n---\n"
    )


def queue(*flavors):
    quotas = ", ".join(
        f"{{name: {it}, resources: [{{name: cpu, nominalQuota: 1}}, {{name: x.com/gpu, nominalQuota: 1}}]}}"
        for it in flavors
    )
    return (
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: q}, spec: "
        f"{{resourceGroups: [{{coveredResources: [cpu, x.com/gpu], flavors: [{quotas}]}}]}}}}\n"
    )


NODES = node("a", "k: v, l: m", 8) + node("b", "k: v", 8) + node("c", "k: w", 4)


def test_nodes_with_all_labels_of_a_flavor():
    text = (
        NODES
        + flavor("v", "k: v")
        + flavor("both", "k: v, l: m")
        + flavor("all", "")
        + flavor("z", "k: z")
    )
    found = nodes(cluster(text.removesuffix("---\n")))
    assert {name: [it.name for it in each.nodes] for name, each in found.items()} == {
        "v": ["a", "b"],
        "both": ["a"],
        "all": ["a", "b", "c"],
        "z": [],
    }
    assert found["v"].sizes == ({"gpu": Fraction(8)},)
    assert found["all"].total == {"gpu": Fraction(20)}


def pairs(*flavors, used):
    text = "".join(flavors) + queue(*used)
    return [(it.one.name, it.other.name, it.resource, it.equal) for it in overlaps(cluster(text))]


def test_flavors_of_the_same_nodes_are_a_pair():
    one, other, more = flavor("a", "k: v"), flavor("b", "k: v"), flavor("c", "k: v, l: m")
    assert pairs(one, other, used="ab") == [("a", "b", "x.com/gpu", True)]
    assert pairs(one, more, used="ac") == [("a", "c", "x.com/gpu", False)]


def test_flavors_of_different_nodes_are_not_pairs():
    taint = "{key: t, effect: NoSchedule}"
    assert pairs(flavor("a", "k: v"), flavor("b", "k: w"), used="ab") == []
    assert pairs(flavor("a", "k: v"), flavor("b", "k: v", taint), used="ab") == []
    assert pairs(flavor("a", "k: v"), flavor("b", "k: v"), used="a") == []
    assert pairs(flavor("a", ""), flavor("b", "k: v"), used="ab") == []
