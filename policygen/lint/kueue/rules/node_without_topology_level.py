"""A node of a flavor does not have the labels of all levels of the flavor's Topology."""

from collections.abc import Sequence

from policygen.core.names import HOSTNAME
from policygen.core.suggest import Names
from policygen.kubernetes.core import NodeView
from policygen.kubernetes.kueue import TopologyView
from policygen.kubernetes.table import Entry
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.odd_labels import odd_labels
from policygen.lint.kueue.flavor_nodes import Flavor, nodes
from policygen.lint.rule import (
    Edit,
    Facts,
    Family,
    Hit,
    Hits,
    Need,
    ObjectRule,
    Severity,
    Verb,
    written,
)


def check(facts: Facts) -> Hits:
    """Kueue ignores the node, so the capacity is smaller, without a message.

    If no node of the Topology has the label, but all have a similar one, the Topology is wrong.
    node-label-misspelt reports a label of nodes that is similar to the level.
    Source: pkg/util/tas/node.go; issues 5039, 6996.
    """
    found = facts.cluster.derive(nodes)
    odd = facts.cluster.derive(odd_labels) if "node-label-misspelt" in facts.run else ()
    reported = frozenset((it.right, node.at) for it in odd if it.is_key for node in it.nodes)
    by_topology: dict[str, list[Flavor]] = {}
    for flavor in facts.cluster.flavors:
        by_topology.setdefault(flavor.fields.topology_name, []).append(flavor)
    for name, flavors in by_topology.items():
        topology = facts.cluster.topologies.get(name) if name else None
        for i, level in enumerate(topology.fields.levels if topology else ()):
            every = [node for flavor in flavors for node in found[flavor.name].nodes]
            near = _near(level.node_label, every)
            if near and topology:
                at = topology.at.to("spec", "levels", i, "nodeLabel")
                places = tuple(node.at.to("metadata", "labels") for node in every)
                yield Hit(
                    RULE,
                    _misspelt(topology, level.node_label, near),
                    at,
                    places,
                    meant=written(at, near),
                )
                continue
            for flavor in flavors:
                every = [
                    node
                    for node in found[flavor.name].nodes
                    if (level.node_label, node.at) not in reported
                ]
                yield from _missing(flavor, level.node_label, every)


def _near(level: str, every: Sequence[Entry[NodeView]]) -> str:
    """The label that all nodes have instead of a level; empty if one has the level, or if none is similar."""
    if not every or any(level in node.labels for node in every):
        return ""
    common = set.intersection(*(set(node.labels) for node in every))
    return Names(sorted(common)).meant(level)


def _misspelt(topology: Entry[TopologyView], level: str, near: str) -> str:
    return (
        f"no node has label {level}, a level of {topology}, so Kueue places no pods there; "
        f'did you mean "{near}", which all its nodes have?'
    )


def _missing(flavor: Flavor, level: str, every: Sequence[Entry[NodeView]]) -> Hits:
    without = [node for node in every if level != HOSTNAME and level not in node.labels]
    if without:
        more = f" and {len(without) - 1} more" if len(without) > 1 else ""
        yield Hit(
            RULE,
            f"label {level} of Topology {flavor.fields.topology_name} is missing on {without[0]}{more} "
            f"of flavor {flavor.name}, so Kueue places no pods there; add the label to every node of the flavor",
            without[0].at.to("metadata", "labels"),
            meant=tuple(
                Edit(Verb.ADD, node.at.to("metadata", "labels", level), node.name)
                for node in without
            ),
            related=(flavor.at.to("spec", "topologyName"),),
        )


RULE = ObjectRule(
    "node-without-topology-level",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Add the missing label to the node.",
    judges=("ResourceFlavor",),
    check=check,
    needs=frozenset({Need.NODES}),
    reads=("Topology", *KINDS),
)
