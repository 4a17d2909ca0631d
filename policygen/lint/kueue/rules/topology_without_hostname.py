"""A topology ends above the node."""

from collections.abc import Iterator

from policygen.core.finding import Severity
from policygen.core.names import HOSTNAME
from policygen.lint.rule import Claim, Facts, Family, Rule


def check(facts: Facts) -> Iterator[Claim]:
    """Pods are admitted that fit on no node of their domain, and failed nodes are not replaced.

    Elsewhere than at the end the level is refused, which the CRD says.
    Source: concepts/topology_aware_scheduling.md; apis/kueue/v1beta2/topology_types.go.
    """
    for topology in facts.cluster.topologies:
        levels = topology.it.levels
        if levels and HOSTNAME not in {level.node_label for level in levels}:
            yield Claim(
                f"{topology} ends with {levels[-1].node_label}, so pods are not placed on nodes and "
                f"failed nodes not replaced; add {HOSTNAME} as the last level",
                topology.at.to("spec", "levels", len(levels) - 1, "nodeLabel"),
            )


RULE = Rule(
    "topology-without-hostname", Severity.WARNING, Family.INERT, judges=("Topology",), check=check
)
