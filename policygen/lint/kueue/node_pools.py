"""The NodePools of Karpenter that can add nodes for a flavor, and flavors with nodes that the input lacks."""

from collections.abc import Mapping, Sequence
from typing import Any

from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.core import NodePoolView
from policygen.kubernetes.table import Entry
from policygen.kubernetes.untyped import keyed_texts, mappings, text, texts
from policygen.lint.kueue.admission_checks import flavors_of_other_nodes

NodePool = Entry[NodePoolView]

LABEL = "karpenter.sh/nodepool"
"""The label that Karpenter gives to the nodes of a NodePool, with its name."""


def node_pools(cluster: Cluster) -> Mapping[str, Sequence[NodePool]]:
    """Those whose nodes can have the labels of each flavor, by its name; use it with `cluster.derive`.

    A label that neither the NodePool nor its requirements name can come from Karpenter, such as the zone,
    or from a program on the node. At least one label must be that of the NodePool.
    """
    pools = [*cluster.node_pools]
    return {
        flavor.name: [it for it in pools if _can_have(it, flavor.fields.node_labels)]
        for flavor in (cluster.flavors if pools else ())
    }


def flavors_with_more_nodes(cluster: Cluster) -> frozenset[str]:
    """The flavors whose pods can run on nodes that are not in the input; use it with `cluster.derive`.

    Karpenter or a check adds these nodes, or they are in other clusters.
    """
    made = {name for name, pools in cluster.derive(node_pools).items() if pools}
    return cluster.derive(flavors_of_other_nodes) | made


def _can_have(pool: NodePool, labels: Mapping[str, str]) -> bool:
    own = {**keyed_texts(pool.fields.template, "metadata", "labels"), LABEL: pool.name}
    known = {key: own[key] == value for key, value in labels.items() if key in own}
    for it in mappings(pool.fields.template, "spec", "requirements"):
        key = text(it, "key")
        if key in labels and key not in own:
            known[key] = known.get(key, True) and _allows(it, labels[key])
    return bool(known) and all(known.values())


def _allows(requirement: Mapping[str, Any], value: str) -> bool:
    values = texts(requirement, "values")
    match text(requirement, "operator"):
        case "In":
            return value in values
        case "NotIn":
            return value not in values
        case "DoesNotExist":
            return False
    return True
