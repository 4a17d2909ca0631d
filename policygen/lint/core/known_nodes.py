"""The nodes with which rules compare pods: those of the input, or else those that the pools of a spec imply."""

from policygen.kubernetes.listed_nodes import listed_nodes
from policygen.kubernetes.node_groups import NodeSet
from policygen.kubernetes.node_index import NodeIndex
from policygen.lint.core.daemon_pods import DaemonPods, RoomBeside, beside_daemons, daemon_pods
from policygen.lint.rule import Facts


def empty_nodes(facts: Facts) -> NodeSet:
    """All known nodes without pods; use it with `facts.derive`. The pools of a spec add nothing to real nodes."""
    if facts.cluster.nodes.any or facts.plan is None:
        return NodeSet(listed_nodes(facts.cluster))
    from policygen.plan.implied_nodes import implied_nodes  # noqa: PLC0415 - only with a spec

    return NodeSet(implied_nodes(facts.plan.pools))


def known_nodes(facts: Facts) -> NodeSet:
    """The same nodes, with what DaemonSets leave of them; use it with `facts.derive`."""
    return facts.derive(_beside).all


def node_index(facts: Facts) -> NodeIndex:
    """The indexes of all known nodes; use it with `facts.derive`."""
    beside, empty = facts.derive(_beside), facts.derive(empty_index)
    if beside.evicting is not beside.all:
        return NodeIndex(beside.all, NodeIndex(beside.evicting), beside.least_evicted)
    return empty if beside.all is empty.nodes else NodeIndex(beside.all)


def daemons(facts: Facts) -> tuple[DaemonPods, ...]:
    """The DaemonSets that run on a known node; use it with `facts.derive`."""
    return tuple(daemon_pods(facts, facts.derive(empty_index)))


def empty_index(facts: Facts) -> NodeIndex:
    """The index of all known nodes without pods; use it with `facts.derive`."""
    return NodeIndex(facts.derive(empty_nodes))


def _beside(facts: Facts) -> RoomBeside:
    return beside_daemons(facts.derive(empty_index), facts.derive(daemons))
