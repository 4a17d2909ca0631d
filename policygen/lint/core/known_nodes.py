"""The nodes with which rules compare pods: those of the input, or else those that the pools of a spec imply."""

from policygen.kubernetes.listed_nodes import listed_nodes
from policygen.kubernetes.node_groups import NodeSet
from policygen.kubernetes.node_index import NodeIndex
from policygen.lint.rule import Facts


def known_nodes(facts: Facts) -> NodeSet:
    """All known nodes; use it with `facts.derive`. The pools of a spec add nothing to real nodes."""
    if facts.cluster.nodes.any or facts.plan is None:
        return NodeSet(listed_nodes(facts.cluster))
    from policygen.plan.implied_nodes import implied_nodes  # noqa: PLC0415 - only with a spec

    return NodeSet(implied_nodes(facts.plan.pools))


def node_index(facts: Facts) -> NodeIndex:
    """The indexes of all known nodes; use it with `facts.derive`."""
    return NodeIndex(facts.derive(known_nodes))
