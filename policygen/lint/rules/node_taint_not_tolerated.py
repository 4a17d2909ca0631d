"""All nodes of a flavor have a taint that the flavor does not know."""

from collections.abc import Iterator

from policygen.cluster.core import Node, Taint
from policygen.cluster.table import Entry
from policygen.finding import Severity
from policygen.lint.flavor_nodes import HARD, nodes
from policygen.lint.rule import Claim, Facts, Family, Need, Rule
from policygen.taints import tolerates


def check(facts: Facts) -> Iterator[Claim]:
    """Kueue admits every job there, and kube-scheduler refuses pods without the toleration.

    Taints that Kubernetes itself sets and takes away are left out. Source: issue 6868.
    """
    found = facts.cluster.derive(nodes)
    for flavor in facts.cluster.flavors:
        mine = found[flavor.name].nodes
        if not mine or not flavor.it.node_labels:
            continue
        known = {taint.key for taint in flavor.it.node_taints}
        for taint in _common(mine):
            if taint.key in known or any(tolerates(it, taint) for it in flavor.it.tolerations):
                continue
            yield Claim(
                f"every node of {flavor} has taint {taint.key}, which the flavor neither lists "
                "nor tolerates, so jobs are admitted and cannot start; write it under nodeTaints "
                "and tolerations",
                flavor.at.to("spec"),
                related=(mine[0].at.to("spec", "taints"),),
            )


def _common(them: tuple[Entry[Node], ...]) -> list[Taint]:
    """The lasting taints that all nodes have, in the order of the first."""
    shared = set.intersection(
        *({(it.key, it.effect) for it in node.it.spec.taints} for node in them)
    )
    return [
        taint
        for taint in them[0].it.spec.taints
        if taint.effect in HARD
        and (taint.key, taint.effect) in shared
        and not taint.key.startswith("node.kubernetes.io/")
    ]


RULE = Rule(
    "node-taint-not-tolerated",
    Severity.WARNING,
    Family.INERT,
    judges=("ResourceFlavor",),
    check=check,
    needs=frozenset({Need.NODES}),
    reads=("Node",),
)
