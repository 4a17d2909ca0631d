"""Nodes of a flavor have a taint that the flavor neither lists nor tolerates."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from policygen.core.amounts import amount_of, total
from policygen.core.label_grammar import key_fault
from policygen.core.quoting import as_arguments, as_yaml, listed, some
from policygen.core.tolerations import tolerates
from policygen.kubernetes.accelerators import is_one
from policygen.kubernetes.core import NodeView, TaintView
from policygen.kubernetes.node_filters import HARD
from policygen.kubernetes.table import Entry
from policygen.lint.core.near_tolerations import NearToleration, near_toleration
from policygen.lint.core.refused_pods import named
from policygen.lint.kueue.flavor_nodes import Flavor, Nodes, nodes
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity, written

_NAMED = 3

Tainted = Mapping[TaintView, Sequence[Entry[NodeView]]]
"""Nodes by those of their taints that keep pods away permanently."""


def check(facts: Facts) -> Hits:
    """Kueue admits every job there, and kube-scheduler does not place pods without the toleration.

    Taints that Kubernetes itself sets and removes are ignored. If only some nodes have the taint,
    nodes of another flavor that knows the taint are ignored too. Source: issue 6868.
    """
    found, refused = facts.cluster.derive(nodes), "invalid-label" in facts.run
    for flavor in facts.cluster.flavors:
        own = found[flavor.name]
        if not flavor.fields.node_labels:
            continue
        unknown: list[TaintView] = []
        for key, taints in _not_listed(flavor, _tainted(own)).items():
            if refused and key_fault(key):
                continue  # invalid-label reports it
            tainted = list({it.name: it for each in taints.values() for it in each}.values())
            every = len(tainted) == len(own.nodes)
            if not every:
                tainted = [it for it in tainted if not _is_of_another(it, key, facts)]
            if not tainted:
                continue
            missed = [it for it, on in taints.items() if any(node in on for node in tainted)]
            all_taints = (it for node in own.nodes for it in node.fields.spec.taints)
            if every and (listing := _near_listing(flavor, missed, own)):
                moved = _other_labels(flavor, listing[0], facts)
                yield moved or _of_listing(flavor, missed[0], *listing)
                continue
            near = near_toleration(flavor.fields.tolerations, missed, all_taints)
            if near is None and every:
                unknown += missed
                continue
            message = (
                f"{_which(len(tainted), own)} of {flavor} have {_named(missed)}, but {_near_fact(near)}; {near.advice}"
                if near
                else _of_some_nodes(flavor, missed, tainted, own)
            )
            at = flavor.at.to("spec", *(near.path if near else ()))
            yield Hit(RULE, message, at, (tainted[0].at.to("spec", "taints"),))
        if unknown:
            at = own.nodes[0].at.to("spec", "taints")
            yield Hit(RULE, _of_all_nodes(flavor, unknown), flavor.at / "spec", (at,))


def _near_listing(
    flavor: Flavor, missed: Sequence[TaintView], own: Nodes
) -> tuple[int, str] | None:
    """The number of a taint of the flavor that differs from the one missed taint, and the field."""
    have = {it for node in own.nodes for it in node.fields.spec.taints}
    for i, it in enumerate(flavor.fields.node_taints):
        for name in ("value", "effect") if it not in have and len(missed) == 1 else ():
            right = getattr(missed[0], name)
            if right and getattr(it, name) and replace(it, **{name: right}) == missed[0]:
                return i, name
    return None


def _other_labels(flavor: Flavor, number: int, facts: Facts) -> Hit | None:
    """The labels of the nodes that have a taint of the flavor, if all these nodes have the same other labels."""
    listing, labels = flavor.fields.node_taints[number], flavor.fields.node_labels
    having = [it for it in facts.cluster.nodes if listing in it.fields.spec.taints]
    found = {tuple(it.object.labels.get(key, "") for key in labels) for it in having}
    right = dict(zip(labels, found.pop(), strict=True)) if len(found) == 1 else {}
    wrong = {key: value for key, value in right.items() if value and value != labels[key]}
    used = any(
        right.items() <= it.fields.node_labels.items() for it in facts.cluster.flavors if right
    )
    if len(wrong) != 1 or used:
        return None
    [(key, value)] = wrong.items()
    return Hit(
        RULE,
        f"no node of {flavor} has its taint {named(listing)}, but {some([str(each) for each in having], 'other node')} {'have' if having[1:] else 'has'} "
        f"this taint and {key}: {as_yaml(value)}; write {key}: {as_yaml(value)} in nodeLabels of the flavor",
        flavor.at.to("spec", "nodeLabels", key),
        (having[0].at,),
        meant=tuple(written(flavor.at.to("spec", "nodeLabels", key), value)),
    )


def _of_listing(flavor: Flavor, missed: TaintView, number: int, name: str) -> Hit:
    spec, listing = flavor.at / "spec", flavor.fields.node_taints[number]
    right = getattr(missed, name)
    places = [spec.to("nodeTaints", number, name)] + [
        spec.to("tolerations", i, name)
        for i, it in enumerate(flavor.fields.tolerations)
        if tolerates(it, listing) and getattr(it, name)
    ]
    where, both = "the taint in nodeTaints of the flavor has", ""
    if places[1:]:
        where, both = "nodeTaints and tolerations of the flavor have", " in both"
    return Hit(
        RULE,
        f"all nodes of {flavor} have {_named([missed])}, but {where} another {name}; "
        f"write {name}: {as_yaml(right)}{both}",
        places[0],
        meant=tuple(edit for at in places for edit in written(at, right)),
    )


def _near_fact(near: NearToleration) -> str:
    if near.field == "key":
        return f'the toleration of the flavor has key "{near.written}"'
    return f"the toleration for this key in the flavor has another {near.field}"


def _which(count: int, own: Nodes) -> str:
    return "all nodes" if count == len(own.nodes) else f"{count} of {len(own.nodes)} nodes"


def _named(missed: Sequence[TaintView]) -> str:
    return f"taint{'s' if len(missed) > 1 else ''} {listed([*map(named, missed)], 'and')}"


def _listing(missed: Sequence[TaintView]) -> str:
    if len(missed) > 1:
        return "add the taints to nodeTaints and a toleration for each to tolerations of the flavor"
    return "add the taint to nodeTaints and a toleration to tolerations of the flavor"


def _of_all_nodes(flavor: Flavor, missed: Sequence[TaintView]) -> str:
    return (
        f"all nodes of {flavor} have {_named(missed)}, which the flavor neither lists nor tolerates, so "
        f"admitted jobs start only with a toleration of their own; {_listing(missed)}"
    )


def _of_some_nodes(
    flavor: Flavor, missed: Sequence[TaintView], tainted: Sequence[Entry[NodeView]], own: Nodes
) -> str:
    names = ", ".join(it.name for it in tainted[:_NAMED]) + (
        "" if len(tainted) <= _NAMED else ", …"
    )
    lost = sorted(total(node.fields.status.allocatable for node in tainted).items())
    of = " and ".join(amount_of(name, it) for name, it in lost if is_one(name) and it)
    this, is_ = ("these taints", "are") if len(missed) > 1 else ("this taint", "is")
    shown = as_arguments([it.name for it in tainted], _NAMED)
    return (
        f"{len(tainted)} of {len(own.nodes)} nodes of {flavor} have {_named(missed)} ({names}), but no "
        f"flavor lists or tolerates {this}, so jobs without a toleration of their own cannot use {of or 'these nodes'}; "
        f"{_listing(missed)}, or create a separate flavor for these nodes; if {this} {is_} left over, run: kubectl taint "
        f"nodes {shown} {missed[0].key}-"
    )


def _tainted(own: Nodes) -> Tainted:
    found: dict[TaintView, list[Entry[NodeView]]] = {}
    for node in own.nodes:
        for taint in node.fields.spec.taints:
            if taint.effect in HARD and not taint.key.startswith("node.kubernetes.io/"):
                found.setdefault(taint, []).append(node)
    return found


def _not_listed(flavor: Flavor, tainted: Tainted) -> Mapping[str, Tainted]:
    """The taints that a flavor neither lists nor tolerates, by their key."""
    found: dict[str, dict[TaintView, Sequence[Entry[NodeView]]]] = {}
    for taint, nodes_of_taint in tainted.items():
        if not _lists_or_tolerates(flavor, taint):
            found.setdefault(taint.key, {})[taint] = nodes_of_taint
    return found


def _is_of_another(node: Entry[NodeView], key: str, facts: Facts) -> bool:
    taints = [it for it in node.fields.spec.taints if it.key == key]
    return any(
        flavor.fields.node_labels.items() <= node.labels.items()
        and all(_lists_or_tolerates(flavor, it) for it in taints)
        for flavor in facts.cluster.flavors
    )


def _lists_or_tolerates(flavor: Flavor, taint: TaintView) -> bool:
    """A taint that is listed with another value counts, unless the flavor tolerates only that value."""
    tolerations = flavor.fields.tolerations
    if any(tolerates(it, taint) for it in tolerations):
        return True
    listed_ = (
        it for it in flavor.fields.node_taints if (it.key, it.effect) == (taint.key, taint.effect)
    )
    return any(
        it.value == taint.value or not any(tolerates(each, it) for each in tolerations)
        for it in listed_
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
