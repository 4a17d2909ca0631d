"""A node of a topology-aware flavor lacks the label of a level."""

from collections.abc import Iterator

from policygen.finding import Severity
from policygen.lint.flavor_nodes import nodes
from policygen.lint.rule import Claim, Facts, Family, Need, Rule
from policygen.lint.topologies import levels
from policygen.well_known import HOSTNAME


def check(facts: Facts) -> Iterator[Claim]:
    """Kueue does not see the node, so the capacity shrinks without a word.

    Source: pkg/util/tas/node.go; issues 5039, 6996.
    """
    found = facts.cluster.derive(nodes)
    for flavor in facts.cluster.flavors:
        known = levels(facts.cluster, flavor) if flavor.it.topology_name else None
        for level in known or ():
            without = [
                node
                for node in found[flavor.name].nodes
                if level != HOSTNAME and level not in node.labels
            ]
            if without:
                more = f" and {len(without) - 1} more" if len(without) > 1 else ""
                yield Claim(
                    f"{without[0]}{more} of flavor {flavor.name} has no label {level}, a level of "
                    f"Topology {flavor.it.topology_name}, so Kueue never uses it; label it",
                    without[0].at.to("metadata", "labels"),
                    related=(flavor.at.to("spec", "topologyName"),),
                )


RULE = Rule(
    "node-without-topology-level",
    Severity.WARNING,
    Family.INERT,
    judges=("ResourceFlavor",),
    check=check,
    needs=frozenset({Need.NODES}),
    reads=("Node", "Topology"),
)
