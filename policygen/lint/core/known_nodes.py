"""The nodes with which rules compare pods: those of the input, or else those that the pools of a spec imply."""

from collections.abc import Iterator

from policygen.kubernetes.core import NodeView, TaintView
from policygen.kubernetes.node_groups import Node, NodeSet, Stated
from policygen.kubernetes.table import Entry
from policygen.kubernetes.untyped import text
from policygen.lint.rule import Facts

_PASSING = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")
"""Prefixes of taints that Kubernetes and cloud providers set for a while, for example on a node that is not ready."""


def known_nodes(facts: Facts) -> NodeSet:
    """All known nodes; use it with `facts.derive`. The pools of a spec add nothing to real nodes."""
    if facts.cluster.nodes.any or facts.plan is None:
        return NodeSet(_written(facts))
    from policygen.plan.implied_nodes import implied_nodes  # noqa: PLC0415 - only with a spec

    return NodeSet(implied_nodes(facts.plan.pools))


def _written(facts: Facts) -> Iterator[Node]:
    for entry in facts.cluster.nodes:
        fields = entry.fields
        of_server = facts.cluster.seen or text(entry.object.data, "metadata", "uid")
        yield Node(
            name=entry.name,
            labels=entry.labels,
            taints=tuple(_lasting(entry)),
            # The API server writes a missing allocatable: SetDefaults_NodeStatus.
            allocatable=fields.status.allocatable or fields.status.capacity,
            unschedulable=fields.spec.unschedulable,
            stated=Stated.ALL if of_server else Stated.WRITTEN,
            at=entry.at,
        )


def _lasting(entry: Entry[NodeView]) -> Iterator[TaintView]:
    for taint in entry.fields.spec.taints:
        if not taint.key.startswith(_PASSING):
            yield taint
