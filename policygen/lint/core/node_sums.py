"""Workloads that the nodes cannot hold together, although each of them alone has room."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import ceil

from msgspec import Struct
from msgspec.structs import replace

from policygen.kubernetes.node_filters import misses, too_little
from policygen.kubernetes.node_groups import Node, NodeSet, NodeSize
from policygen.lint.core.known_nodes import known_nodes
from policygen.lint.core.node_rooms import exceeding
from policygen.lint.core.pod_demands import PodDemand, pod_demands
from policygen.lint.core.queue_rooms import QueueRoom, queue_rooms
from policygen.lint.rule import Facts

_LASTING = ("", "apps", "argoproj.io", "leaderworkerset.x-k8s.io")
"""API groups whose pods do not end, so they need their nodes at the same time."""
_MOST_SETS = 100
Nodes = frozenset[int]
"""The ids of nodes."""


class _Excess(Struct, frozen=True, eq=False):
    """Workloads whose pods need more of a resource than the nodes that can take them have."""

    members: tuple[PodDemand, ...]
    nodes: int
    """The number of the nodes."""
    resource: str


class SumExcess(_Excess, frozen=True, eq=False):
    """The sum of the requests exceeds the sum of the nodes."""

    requested: Fraction
    have: Fraction


class NodeExcess(_Excess, frozen=True, eq=False):
    """The pods need more nodes of one size than there are, because a pod cannot be divided."""

    needed: int
    """The least number of nodes."""
    size: Fraction
    """The amount that each node has."""


class PodExcess(_Excess, frozen=True, eq=False):
    """There are more large pods than places for them."""

    pods: int
    least: Fraction
    """Each of the pods requests this amount or more."""
    room: int
    """The number of pods with `least` that the nodes have room for."""


Excess = SumExcess | NodeExcess | PodExcess


def node_sums(facts: Facts) -> tuple[Excess, ...]:
    """The bounds that certainly no placement keeps; use it with `facts.derive`. Nodes count as empty.

    Pods that no other node takes need their sum of each resource, and a least number of equal nodes.
    Of pods that request an amount or more, each node holds at most its own amount divided by that
    amount, in whole numbers.
    """
    return tuple(_sums(facts))


class Beside(Struct, frozen=True):
    """The room for a workload on nodes that others need too."""

    pods: int
    """The number of pods, or of groups of a LeaderWorkerSet."""
    others: tuple[str, ...]


def room_beside(facts: Facts, room: QueueRoom) -> Beside | None:
    """The room by the resource that runs out in the queue; None if unknown, or without others."""
    nodes = facts.derive(known_nodes)
    own = [
        part
        for it in (facts.derive(pod_demands) if nodes.all else ())
        if it.workload is room.workload and room.resource in _requests(it)
        for part in _takers(it, nodes)
    ]
    mine: Nodes = frozenset().union(*own)
    others = [
        it
        for takers, some in facts.derive(_by_nodes).items()
        if takers <= mine
        for it in some
        if it.workload is not room.workload and room.resource in _requests(it)
    ]
    sizes = _sizes([node for node in nodes.all if id(node) in mine], room.resource)
    if sizes is None or not others:
        return None
    have = sum((size * number for size, number in sizes), Fraction(0))
    used = sum(
        (_requests(it)[room.resource] * (it.template.replicas or 0) for it in others), Fraction(0)
    )
    names = tuple(dict.fromkeys(str(it.workload) for it in others))
    return Beside(int((have - used) // room.each), names)


def _sums(facts: Facts) -> Iterator[Excess]:
    known = {id(node): node for node in facts.derive(known_nodes).all}
    by_nodes = facts.derive(_by_nodes)
    found: list[Nodes] = []
    for nodes in sorted(by_nodes, key=len) if len(by_nodes) <= _MOST_SETS else ():
        inside = [it for takers, some in by_nodes.items() if takers <= nodes for it in some]
        if any(each <= nodes for each in found) or len({it.workload.at for it in inside}) < 2:
            continue
        excess = next(_excesses(inside, [known[each] for each in nodes]), None)
        if excess is not None:
            found.append(nodes)
            yield excess


def _by_nodes(facts: Facts) -> Mapping[Nodes, Sequence[PodDemand]]:
    """The templates of lasting workloads with room of their own, by the nodes that may take them.

    Pods for which replicas-exceed-queue reports that their queue has no room do not count.
    """
    reported = facts.derive(queue_rooms) if "replicas-exceed-queue" in facts.run else ()
    rooms = {id(room.workload): room.pods for room in reported}
    without_room = facts.derive(exceeding)
    nodes = facts.derive(known_nodes)
    seen: set[tuple[object, ...]] = set()
    unions: dict[tuple[Nodes, ...], Nodes] = {}
    found: dict[Nodes, list[PodDemand]] = {}
    for it in facts.derive(pod_demands) if nodes.all else ():
        workload = it.workload
        if workload.object.group not in _LASTING or workload.kind == "Pod" or it in without_room:
            continue
        key = (workload.kind, workload.namespace, workload.name, it.template.at.path)
        if not it.template.replicas or key in seen:
            continue
        seen.add(key)
        parts = tuple(dict.fromkeys(_takers(it, nodes)))
        if parts not in unions:
            unions[parts] = frozenset().union(*parts)
        if parts:
            found.setdefault(unions[parts], []).append(_running(it, rooms.get(id(workload), 0)))
    return found


def _running(it: PodDemand, room: int) -> PodDemand:
    """The demand with the pods that run if their queue has room for some of them."""
    count = it.workload.spec.get("replicas")
    if not isinstance(count, int) or not 0 < room < count:
        return it
    pods = (it.template.replicas or 0) * room // count
    return replace(it, template=replace(it.template, replicas=pods))


def _takers(it: PodDemand, nodes: NodeSet) -> Iterator[Nodes]:
    """The nodes of each size that may take the pods."""
    for way in it.ways:
        for group in nodes.groups(way.demand.keys):
            if not misses(way.demand, group):
                for size, ids in group.by_size:
                    if not any(too_little(way.demand, size)):
                        yield ids


def _excesses(members: Sequence[PodDemand], nodes: Sequence[Node]) -> Iterator[Excess]:
    requests = [(it, _requests(it)) for it in members]
    for resource in sorted({name for _, own in requests for name in own}, key=_native_last):
        asked = [
            (it, amount, it.template.replicas or 0)
            for it, own in requests
            if (amount := own.get(resource))
        ]
        if len({it.workload.at for it, _, _ in asked}) < 2:
            continue
        takers = [node for node in nodes if _takes(node, resource, min(it[1] for it in asked))]
        count, sizes = sum(node.count for node in takers), _sizes(takers, resource)
        if sizes is None:
            continue
        members = tuple(it for it, _, _ in asked)
        requested = sum((amount * pods for _, amount, pods in asked), Fraction(0))
        have = sum((size * number for size, number in sizes), Fraction(0))
        if requested > have:
            yield SumExcess(members, count, resource, requested, have)
        elif len(sizes) == 1:
            [(size, number)] = sizes
            numbers: Counter[Fraction] = Counter()
            for _, amount, pods in asked:
                numbers[amount] += pods
            least_nodes = max(_least_nodes(numbers, size, least) for least in numbers)
            if least_nodes > number:
                yield NodeExcess(members, count, resource, least_nodes, size)
        for least in sorted({amount for _, amount, _ in asked}, reverse=True):
            large = [(it, pods) for it, amount, pods in asked if amount >= least]
            room = sum(int(size // least) * number for size, number in sizes)
            wanted = sum(pods for _, pods in large)
            if wanted > room and len({it.workload.at for it, _ in large}) > 1:
                found = tuple(it for it, _ in large)
                yield PodExcess(found, count, resource, wanted, least, room)


def _least_nodes(pods: Mapping[Fraction, int], size: Fraction, least: Fraction) -> int:
    """Nodes of one size that pods need at least, by amount; pods below `least` do not count.

    Bound L2 of Martello and Toth, "Lower bounds and reduction procedures for the bin packing
    problem", 1990: pods above half a node need one each, and what these leave holds smaller ones.
    """
    if 2 * least > size:
        return sum(number for amount, number in pods.items() if amount >= least)
    alone = sum(number for amount, number in pods.items() if amount > size - least)
    half = [
        (amount, number)
        for amount, number in pods.items()
        if size < 2 * amount <= 2 * (size - least)
    ]
    small = sum(amount * number for amount, number in pods.items() if least <= amount <= size / 2)
    halves = sum(number for _, number in half)
    left = halves * size - sum(amount * number for amount, number in half)
    return alone + halves + max(0, ceil((small - left) / size))


def _requests(it: PodDemand) -> Mapping[str, Fraction]:
    return {**dict(it.ways[0].demand.requests), "pods": Fraction(1)}


def _takes(node: Node, resource: str, least: Fraction) -> bool:
    """Whether a node has, or may have, an amount of a resource."""
    have = _amount(node, resource)
    return have is None or have >= least


def _amount(node: Node, resource: str) -> Fraction | None:
    """The amount of one node; None: unknown."""
    return NodeSize(node.allocatable, 1, node.stated).amount(resource)


def _sizes(nodes: Iterable[Node], resource: str) -> list[tuple[Fraction, int]] | None:
    """The amounts of a resource and the number of their nodes; None: unknown."""
    found: dict[Fraction, int] = {}
    for node in nodes:
        if resource in node.together:
            have, number = node.together[resource], 1
        else:
            amount = _amount(node, resource)
            if amount is None:
                return None
            have, number = amount, node.count
        found[have] = found.get(have, 0) + number
    return list(found.items())


def _native_last(resource: str) -> tuple[bool, str]:
    return "/" not in resource, resource
