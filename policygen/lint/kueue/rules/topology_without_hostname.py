"""A topology ends above the node."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.names import HOSTNAME
from policygen.core.rule import Severity
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Pods are admitted that fit on no node of their domain, and failed nodes are not replaced.

    Elsewhere than at the end the level is refused, which the CRD says.
    Source: concepts/topology_aware_scheduling.md; apis/kueue/v1beta2/topology_types.go.
    """
    for topology in facts.cluster.topologies:
        levels = topology.it.levels
        if levels and HOSTNAME not in {level.node_label for level in levels}:
            yield Hit(
                RULE,
                f"{topology} ends with {levels[-1].node_label}, so pods are not placed on nodes and "
                f"failed nodes not replaced; add {HOSTNAME} as the last level",
                topology.at.to("spec", "levels", len(levels) - 1, "nodeLabel"),
            )


RULE = ObjectRule(
    "topology-without-hostname",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=("Topology",),
    check=check,
)
