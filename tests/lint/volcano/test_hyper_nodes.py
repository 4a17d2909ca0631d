"""The nodes in each HyperNode."""

import pytest

from policygen.lint.core.known_nodes import node_index
from policygen.lint.volcano.hyper_nodes import hyper_nodes, is_tree
from tests.objects import facts

NODE = """
apiVersion: v1
kind: Node
metadata: {name: %s, labels: {rack: %s}}
status: {allocatable: {cpu: 96, nvidia.com/gpu: 8}}
"""
HYPER_NODE = """
apiVersion: topology.volcano.sh/v1alpha1
kind: HyperNode
metadata: {name: %s}
spec:
  tier: %s
  members: [%s]
"""
NODES = [NODE % it for it in (("a-1", "a"), ("a-2", "a"), ("b-1", "b"))]


def of_nodes(selector):
    return f"{{type: Node, selector: {{{selector}}}}}"


def below(name):
    return f"{{type: HyperNode, selector: {{exactMatch: {{name: {name}}}}}}}"


def look(*hyper):
    return facts("---".join([*NODES, *(HYPER_NODE % it for it in hyper)]))


def contents(*hyper):
    """By name: the nodes, whether they are known, and whether all members exist."""
    seen = look(*hyper)
    index = seen.derive(node_index)
    return {
        it.entry.name: (
            {node.name for _, node in index.entries(it.nodes)},
            it.is_known,
            it.is_complete,
        )
        for it in hyper_nodes(seen)
    }


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("exactMatch: {name: a-1}", ({"a-1"}, True, True)),
        ("exactMatch: {name: c-1}", (set(), True, False)),
        ("regexMatch: {pattern: '^a-[0-9]+$'}", ({"a-1", "a-2"}, True, True)),
        ("regexMatch: {pattern: '1'}", ({"a-1", "b-1"}, True, True)),
        ("regexMatch: {pattern: '^c-'}", (set(), True, False)),
        # Go reads it, and Python reads another set of names, or none.
        ("regexMatch: {pattern: '^\\pL-1'}", ({"a-1", "a-2", "b-1"}, False, True)),
        ("regexMatch: {pattern: '^a++'}", ({"a-1", "a-2", "b-1"}, False, True)),
        ("labelMatch: {matchLabels: {rack: b}}", ({"b-1"}, True, True)),
        (
            "labelMatch: {matchExpressions: [{key: rack, operator: NotIn, values: [b]}]}",
            ({"a-1", "a-2"}, True, True),
        ),
        ("labelMatch: {matchLabels: {rack: c}}", (set(), True, False)),
        ("labelMatch: {}", (set(), True, True)),
        # A kubelet or cloud provider may set it.
        ("labelMatch: {matchLabels: {topology.kubernetes.io/zone: z}}", ({"a-1", "a-2", "b-1"}, False, True)),
    ],
)  # fmt: skip
def test_a_member_selects_nodes(selector, expected):
    assert contents(("leaf", 1, of_nodes(selector))) == {"leaf": expected}


def test_a_hyper_node_contains_the_nodes_of_those_below_it():
    leaf = "leaf", 1, of_nodes("exactMatch: {name: a-1}")
    spine = "spine", 2, f"{below('leaf')}, {of_nodes('exactMatch: {name: b-1}')}"
    assert contents(spine, leaf)["spine"] == ({"a-1", "b-1"}, True, True)
    core = "core", 3, f"{below('spine')}, {below('gone')}"
    assert contents(core, spine, leaf)["core"] == ({"a-1", "b-1"}, True, False)


def test_a_circle_of_hyper_nodes_ends():
    found = contents(
        ("a", 1, below("b")), ("b", 2, f"{below('a')}, {of_nodes('exactMatch: {name: a-1}')}")
    )
    assert found == {"a": ({"a-1"}, True, True), "b": ({"a-1"}, True, True)}


def test_two_hyper_nodes_with_one_member_are_no_tree():
    leaf = "leaf", 1, of_nodes("exactMatch: {name: a-1}")
    parents = [(name, 2, below("leaf")) for name in ("one", "other")]
    assert is_tree(look(leaf, parents[0]))
    assert not is_tree(look(leaf, *parents))
