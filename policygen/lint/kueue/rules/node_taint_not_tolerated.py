"""Nodes of a flavor have a taint that the flavor neither lists nor tolerates."""

from collections.abc import Mapping, Sequence

from policygen.core.amounts import amount_of, total
from policygen.core.tolerations import tolerates
from policygen.kubernetes.accelerators import is_one
from policygen.kubernetes.core import NodeView, TaintView
from policygen.kubernetes.node_filters import HARD
from policygen.kubernetes.table import Entry
from policygen.lint.kueue.flavor_nodes import Flavor, Nodes, nodes
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity

_NAMED = 3

Tainted = Mapping[TaintView, Sequence[Entry[NodeView]]]
"""Nodes by those of their taints that keep pods away permanently."""


def check(facts: Facts) -> Hits:
    """Kueue admits every job there, and kube-scheduler does not place pods without the toleration.

    Taints that Kubernetes itself sets and removes are ignored. If only some nodes have the taint,
    nodes of another flavor that knows the taint are ignored too. Source: issue 6868.
    """
    found = facts.cluster.derive(nodes)
    for flavor in facts.cluster.flavors:
        own = found[flavor.name]
        if not flavor.fields.node_labels:
            continue
        for key, tainted in _not_listed(flavor, _tainted(own)).items():
            every = len(tainted) == len(own.nodes)
            if not every:
                tainted = [it for it in tainted if not _is_of_another(it, key, facts)]  # noqa: PLW2901 - fewer of them
            if tainted:
                yield Hit(
                    RULE,
                    _of_all_nodes(flavor, key)
                    if every
                    else _of_some_nodes(flavor, key, tainted, own),
                    flavor.at.to("spec"),
                    related=(tainted[0].at.to("spec", "taints"),),
                )


def _of_all_nodes(flavor: Flavor, key: str) -> str:
    return (
        f"all nodes of {flavor} have taint {key}, which the flavor neither lists nor tolerates, so "
        "admitted jobs start only with a toleration of their own; add the taint to nodeTaints and a toleration to tolerations of "
        "the flavor"
    )


def _of_some_nodes(flavor: Flavor, key: str, tainted: Sequence[Entry[NodeView]], own: Nodes) -> str:
    names = ", ".join(it.name for it in tainted[:_NAMED]) + (
        "" if len(tainted) <= _NAMED else ", …"
    )
    lost = sorted(total(node.fields.status.allocatable for node in tainted).items())
    of = " and ".join(amount_of(name, it) for name, it in lost if is_one(name) and it)
    return (
        f"{len(tainted)} of {len(own.nodes)} nodes of {flavor} have taint {key} ({names}), but no "
        f"flavor lists or tolerates this taint, so jobs without a toleration of their own cannot use {of or 'these nodes'}; "
        "add the taint to nodeTaints and a toleration to tolerations of the flavor, or create a "
        "separate flavor for these nodes"
    )


def _tainted(own: Nodes) -> Tainted:
    found: dict[TaintView, list[Entry[NodeView]]] = {}
    for node in own.nodes:
        for taint in node.fields.spec.taints:
            if taint.effect in HARD and not taint.key.startswith("node.kubernetes.io/"):
                found.setdefault(taint, []).append(node)
    return found


def _not_listed(flavor: Flavor, tainted: Tainted) -> Mapping[str, Sequence[Entry[NodeView]]]:
    """The nodes whose taints a flavor neither lists nor tolerates, by the key of the taint."""
    found: dict[str, dict[str, Entry[NodeView]]] = {}
    for taint, nodes_of_taint in tainted.items():
        if not _lists_or_tolerates(flavor, taint):
            found.setdefault(taint.key, {}).update((it.name, it) for it in nodes_of_taint)
    return {key: list(them.values()) for key, them in found.items()}


def _is_of_another(node: Entry[NodeView], key: str, facts: Facts) -> bool:
    taints = [it for it in node.fields.spec.taints if it.key == key]
    return any(
        flavor.fields.node_labels.items() <= node.labels.items()
        and all(_lists_or_tolerates(flavor, it) for it in taints)
        for flavor in facts.cluster.flavors
    )


def _lists_or_tolerates(flavor: Flavor, taint: TaintView) -> bool:
    return any(it.key == taint.key for it in flavor.fields.node_taints) or any(
        tolerates(it, taint) for it in flavor.fields.tolerations
    )


RULE = ObjectRule(
    "node-taint-not-tolerated",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Add the taint to nodeTaints and a toleration to tolerations, or create another flavor.",
    judges=("ResourceFlavor",),
    check=check,
    needs=frozenset({Need.NODES}),
)
