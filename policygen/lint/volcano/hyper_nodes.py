"""The HyperNodes of Volcano: the nodes in each, and members that do not exist.

Source: pkg/scheduler/api/hyper_node_info.go of Volcano 1.14.1.
"""

import re
from collections.abc import Iterator, Mapping
from functools import reduce
from operator import or_
from typing import Any

from msgspec import Struct

from policygen.core.finding import At
from policygen.core.names import NODE_NAME
from policygen.core.quoting import quoted
from policygen.kubernetes.core import Requirement, requirements
from policygen.kubernetes.node_filters import Demand, Placed
from policygen.kubernetes.node_index import Bits, NodeIndex
from policygen.kubernetes.table import Entry
from policygen.kubernetes.untyped import keyed_texts, mapping, text
from policygen.kubernetes.volcano import HyperNodeView
from policygen.lint.core.known_nodes import empty_index
from policygen.lint.rule import Facts

_HYPER_NODE = "HyperNode"
_KNOWN_PATTERN = re.compile(r"(?:[-\w.^$*?|()\[\]]|(?<!\+)\+|\\[dwDW.-])*", re.ASCII)
"""Regular expressions that Go and Python certainly read alike."""


class Member(Struct, frozen=True, eq=False):
    """A member of a HyperNode."""

    at: At
    """The place of its selector."""
    kind: str
    """Node or HyperNode."""
    name: str = ""
    """Of an exactMatch."""
    nodes: Bits = 0
    """The nodes that it may select, by `empty_index`; a HyperNode adds its own members."""
    is_known: bool = True
    """Whether it certainly selects all of them."""
    is_missing: bool = False
    """Whether it certainly selects nothing, although the nodes are known."""
    selector: str = ""
    """What selects nodes, if it is not an exactMatch."""

    @property
    def shown(self) -> str:
        """What it selects, in a message."""
        return (
            f"{self.kind} {quoted(self.name)}" if self.name else f"{self.kind}s by {self.selector}"
        )


class HyperNode(Struct, frozen=True, eq=False):
    """A HyperNode, with the nodes in it and in the HyperNodes below it."""

    entry: Entry[HyperNodeView]
    tier: int
    nodes: Bits
    """The nodes that it may contain, by `empty_index` and so by `node_index`."""
    is_known: bool
    """Whether it certainly contains all of them."""
    is_complete: bool
    """Whether all these members exist."""


def members(facts: Facts) -> Mapping[str, tuple[Member, ...]]:
    """The members by the name of their HyperNode; use it with `facts.derive`."""
    return {it.name: tuple(_members(facts, it)) for it in facts.cluster.hyper_nodes}


def hyper_nodes(facts: Facts) -> tuple[HyperNode, ...]:
    """All HyperNodes with a tier; use it with `facts.derive`."""
    found = []
    for entry in facts.cluster.hyper_nodes:
        below = _below(facts, entry.name)
        nodes = reduce(or_, (it.nodes for it in below), 0)
        known = all(it.is_known for it in below)
        complete = not any(it.is_missing for it in below)
        if entry.fields.tier is not None:
            found.append(HyperNode(entry, entry.fields.tier, nodes, known, complete))
    return tuple(found)


def is_tree(facts: Facts) -> bool:
    """Whether each HyperNode is a member of at most one other."""
    parents: dict[str, set[str]] = {}
    for name, found in facts.derive(members).items():
        for it in found:
            if it.kind == _HYPER_NODE:
                parents.setdefault(it.name, set()).add(name)
    return all(len(it) == 1 for it in parents.values())


def _below(facts: Facts, name: str) -> list[Member]:
    """The members of a HyperNode, and those of the HyperNodes below it."""
    every, names = facts.derive(members), [name]
    found: list[Member] = []
    for each in names:  # which grows
        for it in every.get(each, ()):
            found.append(it)
            if it.kind == _HYPER_NODE and it.name not in names:
                names.append(it.name)
    return found


def _members(facts: Facts, entry: Entry[HyperNodeView]) -> Iterator[Member]:
    for i, it in enumerate(entry.fields.members):
        at, selector = entry.at.to("spec", "members", i, "selector"), mapping(it, "selector")
        found = _member(facts, text(it, "type"), at, selector)
        # An invalid one, which another rule reports, may be meant for any nodes.
        yield found or Member(at, "Node", nodes=facts.derive(empty_index).all, is_known=False)


def _member(facts: Facts, kind: str, at: At, selector: Mapping[str, Any]) -> Member | None:
    """A member that selects a HyperNode by its name, or nodes; None: unknown."""
    index, any_known = facts.derive(empty_index), facts.cluster.nodes.any
    name, pattern = text(selector, "exactMatch", "name"), text(selector, "regexMatch", "pattern")
    labels = selector.get("labelMatch")
    if kind == _HYPER_NODE and name and facts.cluster.hyper_nodes.get(name):
        return Member(at.to("exactMatch", "name"), kind, name)
    if kind == _HYPER_NODE and name and not facts.cluster.hyper_nodes.knows(name):
        return Member(at.to("exactMatch", "name"), kind, name, is_missing=True)
    if kind == _HYPER_NODE and not name and (pattern or isinstance(labels, dict)):
        shown = "a pattern" if pattern else "labels"
        return Member(at, kind, is_missing=True, selector=shown)
    if kind != "Node":
        return None
    if name:
        nodes = index.selected(_demand((Requirement(NODE_NAME, "In", (name,)),)))
        missing = any_known and not facts.cluster.nodes.knows(name)
        return Member(at.to("exactMatch", "name"), kind, name, nodes, is_missing=missing)
    if pattern and (found := _matching(index, pattern)) is not None:
        at = at.to("regexMatch", "pattern")
        shown = f"the pattern {quoted(pattern)}"
        return Member(at, kind, "", found, is_missing=any_known and not found, selector=shown)
    if not isinstance(labels, dict):
        return None
    required = (
        *(Requirement(key, "In", (it,)) for key, it in keyed_texts(labels, "matchLabels").items()),
        *requirements(labels.get("matchExpressions")),
    )
    demand = _demand(required)
    found = index.selected(demand) if required else 0
    known = index.certain(demand) == index.all
    missing = any_known and bool(required) and not found
    return Member(at / "labelMatch", kind, "", found, known, missing, "labels")


def _demand(required: tuple[Requirement, ...]) -> Demand:
    return Demand((), tuple(Placed((), it) for it in required))


def _matching(index: NodeIndex, pattern: str) -> Bits | None:
    """The nodes whose names match; None: unknown."""
    if not _KNOWN_PATTERN.fullmatch(pattern):
        return None
    try:
        expression = re.compile(pattern)
    except re.error:
        return None  # the webhook refuses it, and another rule reports it
    return sum(bit for bit, node in index.entries(index.all) if expression.search(node.name))
