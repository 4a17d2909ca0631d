"""The affinity of a Queue names a node group without nodes, or the group of a node is misspelled."""

from collections.abc import Collection

from policygen.core.finding import Edit, Verb
from policygen.core.names import NODE_GROUP
from policygen.core.suggest import is_typo, suggest
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.core import NodeView
from policygen.kubernetes.node_filters import REQUIRED
from policygen.kubernetes.pod_terms import PREFERRED
from policygen.kubernetes.table import Entry
from policygen.kubernetes.untyped import entries, texts
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
    yield from _of_nodes(facts.cluster, groups)


def _of_nodes(cluster: Cluster, groups: Collection[str]) -> Hits:
    """Nodes whose group no Queue names, if it is certainly the misspelled group of other nodes that a Queue names."""
    named = {
        name
        for queue in cluster.queues
        for part in ("nodeGroupAffinity", "nodeGroupAntiAffinity")
        for when in (REQUIRED, PREFERRED)
        for name in texts(queue.fields.affinity, part, when)
    }
    known = sorted(named.intersection(groups))
    for node in cluster.nodes:
        group = _group(node)
        found = [it for it in known if is_typo(group, it)]
        if group not in named and len(found) == 1:
            [meant] = found
            at = node.at.to("metadata", "labels", NODE_GROUP)
            yield Hit(
                RULE,
                f'{node} is in node group "{group}", which no Queue names, so jobs of Queues with an affinity do not '
                f'run on it; did you mean "{meant}"?',
                at,
                meant=(Edit(Verb.REWRITE, at, meant),),
            )


def _group(node: Entry[NodeView]) -> str:
    return node.labels.get(NODE_GROUP, "")


RULE = ObjectRule(
    "node-group-without-nodes",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Label the nodes, or write the name of an existing node group.",
    judges=("Node", "Queue"),
    check=check,
    needs=frozenset({Need.NODES}),
)
