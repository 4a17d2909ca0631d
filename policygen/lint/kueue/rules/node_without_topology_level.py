"""A node of a flavor does not have the labels of all levels of the flavor's Topology."""

from policygen.core.names import HOSTNAME
from policygen.lint.kueue.flavor_nodes import nodes
from policygen.lint.kueue.topologies import levels
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Kueue ignores the node, so the capacity is smaller, without a message.

    Source: pkg/util/tas/node.go; issues 5039, 6996.
    """
    found = facts.cluster.derive(nodes)
    for flavor in facts.cluster.flavors:
        known = levels(facts.cluster, flavor) if flavor.fields.topology_name else None
        for level in known or ():
            without = [
                node
                for node in found[flavor.name].nodes
                if level != HOSTNAME and level not in node.labels
            ]
            if without:
                more = f" and {len(without) - 1} more" if len(without) > 1 else ""
                yield Hit(
                    RULE,
                    f"label {level} of Topology {flavor.fields.topology_name} is missing on {without[0]}{more} "
                    f"of flavor {flavor.name}, so Kueue places no pods there; add the label to every node of the flavor",
                    without[0].at.to("metadata", "labels"),
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
    reads=("Topology",),
)
