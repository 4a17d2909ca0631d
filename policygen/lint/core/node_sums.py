"""Workloads that the nodes cannot hold together, although each of them alone has room."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

from msgspec import Struct

from policygen.kubernetes.node_filters import misses
from policygen.kubernetes.node_groups import Node, NodeGroup, NodeSize
from policygen.lint.core.known_nodes import known_nodes
from policygen.lint.core.node_rooms import exceeding
from policygen.lint.core.pod_demands import PodDemand, pod_demands
from policygen.lint.rule import Facts

_LASTING = ("", "apps", "argoproj.io", "leaderworkerset.x-k8s.io")
"""API groups whose pods do not end, so they need their nodes at the same time."""
_MOST_SETS = 100
Nodes = frozenset[int]
"""The ids of nodes."""


class NodeSum(Struct, frozen=True, eq=False):
    """What the pods of some workloads need of their nodes, which have less."""

    members: tuple[PodDemand, ...]
    nodes: int
    resource: str
    needed: Fraction
    have: Fraction
    each: Fraction
    """The least amount that one of these pods requests, if their number exceeds the room; else 0."""


def node_sums(facts: Facts) -> tuple[NodeSum, ...]:
    """The bounds that certainly no placement keeps; use it with `facts.derive`. Nodes count as empty.

    Pods that no other node takes need their sum of each resource. Of pods that request an amount or
    more, each node holds at most its own amount divided by that amount, in whole numbers.
    """
    return tuple(_sums(facts))


def _sums(facts: Facts) -> Iterator[NodeSum]:
    members = _members(facts)
    known = {id(node): node for node in facts.derive(known_nodes).all}
    found: list[Nodes] = []
    sets = sorted(set(members.values()), key=len)
    for nodes in sets if len(sets) <= _MOST_SETS else ():
        inside = tuple(it for it, takers in members.items() if takers <= nodes)
        if any(each <= nodes for each in found) or len({it.workload.at for it in inside}) < 2:
            continue
        excess = next(_excesses(inside, [known[each] for each in nodes]), None)
        if excess is not None:
            found.append(nodes)
            yield excess


def _members(facts: Facts) -> Mapping[PodDemand, Nodes]:
    """The nodes that take each template of a lasting workload with room of its own."""
    without_room = facts.derive(exceeding)
    nodes = facts.derive(known_nodes)
    seen: set[tuple[str, str, str, str]] = set()
    sets: dict[tuple[int, ...], Nodes] = {}
    found: dict[PodDemand, Nodes] = {}
    for it in facts.derive(pod_demands) if nodes.all else ():
        group = it.workload.object.group
        if group not in _LASTING or it.workload.kind == "Pod" or it in without_room:
            continue
        key = (group, it.workload.kind, it.workload.namespace, str(it.template.at.path))
        if not it.template.replicas or (*key[:3], it.workload.name + key[3]) in seen:
            continue
        seen.add((*key[:3], it.workload.name + key[3]))
        groups: dict[int, NodeGroup] = {
            id(each): each
            for way in it.ways
            for each in nodes.groups(way.demand.keys)
            if not misses(way.demand, each)
        }
        takers = tuple(groups)
        if takers not in sets:
            sets[takers] = frozenset(id(node) for each in groups.values() for node in each.nodes)
        if sets[takers]:
            found[it] = sets[takers]
    return found


def _excesses(members: Sequence[PodDemand], nodes: Sequence[Node]) -> Iterator[NodeSum]:
    count = sum(node.count for node in nodes)
    for resource in sorted({name for it in members for name in _requests(it)}, key=_native_last):
        sizes = _sizes(nodes, resource)
        asked = [
            (it, amount, it.template.replicas or 0)
            for it in members
            if (amount := _requests(it).get(resource))
        ]
        if sizes is None or len({it.workload.at for it, _, _ in asked}) < 2:
            continue
        needed = sum((amount * pods for _, amount, pods in asked), Fraction(0))
        have = sum((size * number for size, number in sizes), Fraction(0))
        if needed > have:
            yield NodeSum(
                tuple(it for it, _, _ in asked), count, resource, needed, have, Fraction(0)
            )
        for least in sorted({amount for _, amount, _ in asked}, reverse=True):
            large = [(it, pods) for it, amount, pods in asked if amount >= least]
            room = sum(size // least * number for size, number in sizes)
            wanted = sum(pods for _, pods in large)
            if wanted > room and len({it.workload.at for it, _ in large}) > 1:
                found = tuple(it for it, _ in large)
                yield NodeSum(found, count, resource, Fraction(wanted), Fraction(room), least)


def _requests(it: PodDemand) -> Mapping[str, Fraction]:
    return dict(it.ways[0].demand.requests)


def _sizes(nodes: Iterable[Node], resource: str) -> list[tuple[Fraction, int]] | None:
    """The amounts of a resource and the number of their nodes; None: unknown."""
    found: dict[Fraction, int] = {}
    for node in nodes:
        if resource in node.together:
            have, number = node.together[resource], 1
        else:
            amount = NodeSize(node.allocatable, 1, node.stated).amount(resource)
            if amount is None:
                return None
            have, number = amount, node.count
        found[have] = found.get(have, 0) + number
    return list(found.items())


def _native_last(resource: str) -> tuple[bool, str]:
    return "/" not in resource, resource
