"""A queue is bound to a group of nodes that no node is in."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.names import NODE_GROUP
from policygen.core.rule import Severity
from policygen.core.suggest import suggest
from policygen.kubernetes.core import Node
from policygen.kubernetes.table import Entry
from policygen.kubernetes.untyped import entries
from policygen.lint.rule import Facts, Family, Need, ObjectRule

_TERM = "requiredDuringSchedulingIgnoredDuringExecution"


def check(facts: Facts) -> Iterator[Hit]:
    """Groups are named by a label of nodes.

    Source: pkg/scheduler/plugins/nodegroup/nodegroup.go, NodeGroupNameKey.
    """
    if not facts.cluster.nodes.any:
        return
    there = {name for name in facts.cluster.nodes.by(_group) if name}
    for queue in facts.cluster.queues:
        for i, name in enumerate(entries(queue.it.affinity, "nodeGroupAffinity", _TERM)):
            if isinstance(name, str) and name not in there:
                yield Hit(
                    RULE,
                    f'{queue} is bound to node group "{name}", and no node has the label {NODE_GROUP}: '
                    f"{name}; {suggest(name, there)}",
                    queue.at.to("spec", "affinity", "nodeGroupAffinity", _TERM, i),
                )


def _group(node: Entry[Node]) -> str:
    return node.labels.get(NODE_GROUP, "")


RULE = ObjectRule(
    "node-group-without-nodes",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=("Queue",),
    check=check,
    needs=frozenset({Need.NODES}),
    reads=("Node",),
)
