"""Nodes of a flavor have a taint that the flavor does not know."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.core.tolerations import tolerates
from policygen.kubernetes.core import Node, Taint
from policygen.kubernetes.table import Entry
from policygen.lint.core.accelerators import is_one
from policygen.lint.core.amounts import shown
from policygen.lint.kueue.flavor_nodes import HARD, Flavor, Nodes, nodes
from policygen.lint.rule import Facts, Family, Need, ObjectRule

_NAMED = 3

Tainted = Mapping[Taint, Sequence[Entry[Node]]]
"""Nodes by their lasting taints that keep pods away."""


def check(facts: Facts) -> Iterator[Hit]:
    """Kueue admits every job there, and kube-scheduler refuses pods without the toleration.

    Taints that Kubernetes itself sets and takes away are left out, and so are nodes among others that
    another flavor means, which knows the taint. Source: issue 6868.
    """
    found = facts.cluster.derive(nodes)
    by_taint: dict[int, Tainted] = {}  # flavors of the same labels share their nodes
    for flavor in facts.cluster.flavors:
        mine = found[flavor.name]
        if not flavor.it.node_labels:
            continue
        if id(mine) not in by_taint:
            by_taint[id(mine)] = _tainted(mine)
        for key, them in _unknown(flavor, by_taint[id(mine)]).items():
            every = len(them) == len(mine.nodes)
            if not every:
                them = [it for it in them if not _is_of_another(it, key, facts)]  # noqa: PLW2901 - fewer of them
            if them:
                yield Hit(
                    RULE,
                    _every(flavor, key) if every else _some(flavor, key, them, mine),
                    flavor.at.to("spec"),
                    related=(them[0].at.to("spec", "taints"),),
                )


def _every(flavor: Flavor, key: str) -> str:
    return (
        f"every node of {flavor} has taint {key}, which the flavor neither lists nor tolerates, so "
        "jobs are admitted and cannot start; write it under nodeTaints and tolerations"
    )


def _some(flavor: Flavor, key: str, them: Sequence[Entry[Node]], mine: Nodes) -> str:
    names = ", ".join(it.name for it in them[:_NAMED]) + ("" if len(them) <= _NAMED else ", …")
    lost: dict[str, Fraction] = {}
    for node in them:
        for name, amount in node.it.status.allocatable.items():
            if is_one(name) and amount:
                lost[name] = lost.get(name, Fraction(0)) + amount
    of = " and ".join(f"{shown(name, amount)} {name}" for name, amount in sorted(lost.items()))
    return (
        f"{len(them)} of {len(mine.nodes)} nodes of {flavor} have taint {key} ({names}), which no flavor "
        f"of theirs lists or tolerates, so jobs are admitted for {of or 'them'} and cannot start there; "
        "write it under nodeTaints and tolerations, or give these nodes a flavor of their own"
    )


def _tainted(mine: Nodes) -> Tainted:
    found: dict[Taint, list[Entry[Node]]] = {}
    for node in mine.nodes:
        for it in node.it.spec.taints:
            if it.effect in HARD and not it.key.startswith("node.kubernetes.io/"):
                found.setdefault(it, []).append(node)
    return found


def _unknown(flavor: Flavor, tainted: Tainted) -> Mapping[str, Sequence[Entry[Node]]]:
    """The nodes with taints that a flavor does not know, by the taints' keys."""
    found: dict[str, dict[str, Entry[Node]]] = {}
    for taint, them in tainted.items():
        if not _knows(flavor, taint):
            found.setdefault(taint.key, {}).update((it.name, it) for it in them)
    return {key: list(them.values()) for key, them in found.items()}


def _is_of_another(node: Entry[Node], key: str, facts: Facts) -> bool:
    taints = [it for it in node.it.spec.taints if it.key == key]
    return any(
        flavor.it.node_labels.items() <= node.labels.items()
        and all(_knows(flavor, it) for it in taints)
        for flavor in facts.cluster.flavors
    )


def _knows(flavor: Flavor, taint: Taint) -> bool:
    return any(it.key == taint.key for it in flavor.it.node_taints) or any(
        tolerates(it, taint) for it in flavor.it.tolerations
    )


RULE = ObjectRule(
    "node-taint-not-tolerated",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=("ResourceFlavor",),
    check=check,
    needs=frozenset({Need.NODES}),
    reads=("Node",),
)
