"""A level of a Topology is above another one, but the labels of the nodes show the other order."""

import re
from collections.abc import Iterable
from itertools import pairwise

from policygen.core.names import HOSTNAME
from policygen.kubernetes.core import NodeView
from policygen.kubernetes.kueue import TopologyView
from policygen.kubernetes.table import Entry
from policygen.lint.kueue.flavor_nodes import nodes
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
)

_ORDER = ("region", "zone", "datacenter", "superblock", "block", "row", "rack")
"""Usual parts of a data center, the largest first."""
_WORD = re.compile(r"[a-z]+")


def check(facts: Facts) -> Hits:
    """A domain of a level is within one of each level above, so a job gets only a part of the domain that it requests.

    Reports neighbours of which each value of the upper one is in one value of the lower one, and a value of the lower
    one has several of the upper one. The lower one must have at least two values, and the names another order.
    Source: pkg/cache/scheduler/tas_flavor_snapshot.go of Kueue 0.19.2: a domain is the values of its level and of
    those above.
    """
    found = facts.cluster.derive(nodes)
    by_topology: dict[str, dict[int, Entry[NodeView]]] = {}
    for flavor in facts.cluster.flavors:
        if flavor.fields.topology_name:
            own = by_topology.setdefault(flavor.fields.topology_name, {})
            own.update((id(it), it) for it in found[flavor.name].nodes)
    for topology in facts.cluster.topologies if by_topology else ():
        used = by_topology.get(topology.name, {}).values()
        yield from _hits(topology, used)


def _hits(topology: Entry[TopologyView], used: Iterable[Entry[NodeView]]) -> Hits:
    levels = [it.node_label for it in topology.fields.levels]
    for i, (upper, lower) in enumerate(pairwise(levels)):
        if lower == HOSTNAME or _is_known_order(upper, lower):
            continue
        above: dict[str, set[str]] = {}
        below: dict[str, set[str]] = {}
        for node in used:
            if upper in node.labels and lower in node.labels:
                above.setdefault(node.labels[lower], set()).add(node.labels[upper])
                below.setdefault(node.labels[upper], set()).add(node.labels[lower])
        several = next((it for it, values in above.items() if len(values) > 1), None)
        if several is None or len(above) < 2 or any(len(it) > 1 for it in below.values()):
            continue
        first = topology.at.to("spec", "levels", i, "nodeLabel")
        second = topology.at.to("spec", "levels", i + 1, "nodeLabel")
        yield Hit(
            RULE,
            f"{topology} has level {upper} above {lower}, but {lower}={several} contains {len(above[several])} values of {upper}, "
            f"so a job that requests {lower} gets only the nodes of one {upper}; exchange the two levels",
            first,
            (second,),
            meant=(Edit(Verb.REWRITE, first, lower), Edit(Verb.REWRITE, second, upper)),
        )


def _is_known_order(upper: str, lower: str) -> bool:
    """Whether the names of two levels show that their order is right."""
    first, second = _rank(upper), _rank(lower)
    return first is not None and second is not None and first < second


def _rank(label: str) -> int | None:
    words = _WORD.findall(label.rpartition("/")[2].lower())
    return next((i for i, it in enumerate(_ORDER) if it in words), None)


RULE = ObjectRule(
    "topology-levels-swapped",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write the levels of the Topology from the largest to the smallest.",
    judges=("Topology",),
    check=check,
    needs=frozenset({Need.NODES}),
    reads=("ResourceFlavor", "Node"),
)
