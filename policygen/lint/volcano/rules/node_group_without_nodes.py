"""The affinity of a Queue names a node group without nodes."""

from policygen.core.names import NODE_GROUP
from policygen.core.suggest import suggest
from policygen.kubernetes.core import NodeView
from policygen.kubernetes.node_filters import REQUIRED
from policygen.kubernetes.table import Entry
from policygen.kubernetes.untyped import entries
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """A label of nodes names their group.

    Source: pkg/scheduler/plugins/nodegroup/nodegroup.go, NodeGroupNameKey.
    """
    if not facts.cluster.nodes.any:
        return
    groups = {name for name in facts.cluster.nodes.by(_group) if name}
    for queue in facts.cluster.queues:
        for i, name in enumerate(entries(queue.fields.affinity, "nodeGroupAffinity", REQUIRED)):
            if isinstance(name, str) and name not in groups:
                yield Hit(
                    RULE,
                    f'{queue} has an affinity to node group "{name}", but no node has the label '
                    f"{NODE_GROUP}: {name}; {suggest(name, groups, 'node group')}",
                    queue.at.to("spec", "affinity", "nodeGroupAffinity", REQUIRED, i),
                )


def _group(node: Entry[NodeView]) -> str:
    return node.labels.get(NODE_GROUP, "")


RULE = ObjectRule(
    "node-group-without-nodes",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Label the nodes, or write the name of an existing node group.",
    judges=("Queue",),
    check=check,
    needs=frozenset({Need.NODES}),
)
