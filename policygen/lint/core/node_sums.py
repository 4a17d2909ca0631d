"""Workloads that the nodes cannot hold together, although each of them alone has room."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from policygen.core.finding import At
from policygen.core.packing import least_bins
from policygen.kubernetes.node_index import Bits, Level, Levels, NodeIndex
from policygen.kubernetes.priorities import of_class
from policygen.lint.core.gang_pods import pods_together
from policygen.lint.core.known_nodes import node_index
from policygen.lint.core.limit_range_refusals import refused_by_range
from policygen.lint.core.node_rooms import exceeding
from policygen.lint.core.pod_demands import PodDemand, pod_demands
from policygen.lint.core.queue_rooms import QueueRoom, queue_rooms
from policygen.lint.rule import Facts
from policygen.lint.volcano import queues

_LASTING = ("", "apps", "argoproj.io", "leaderworkerset.x-k8s.io")
"""API groups whose pods do not end, so they need their nodes at the same time."""
_UP = 1 + 1e-9
"""Makes a float certainly larger than the exact sum."""
_MOST_COMPARED = 20_000_000
_MOST_ADDED = 1_000_000
"""The most sets of nodes that are compared, and the most parts that are added up, so that the time is
bounded."""
_UNCHECKED = "lint compares only a limited number of sets of nodes, and the workloads of the input can run on more"


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
    others: tuple["SumExcess", ...] = ()
    """The sums of further resources that exceed those of the same nodes."""


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


class NodeSums(Struct, frozen=True):
    """What exceeds sets of nodes."""

    excesses: tuple[Excess, ...]
    unchecked: str = ""
    """Why there can be more; empty if everything was checked."""


def node_sums(facts: Facts) -> NodeSums:
    """The bounds that certainly no placement keeps; use it with `facts.derive`. Nodes count as empty.

    Pods that no other node takes need their sum of each resource, and a least number of equal nodes.
    Of pods that request an amount or more, each node holds at most its own amount divided by that
    amount, in whole numbers.
    """
    return _bounded(facts.derive(_parts), facts.derive(node_index), alone=False)


class Beside(Struct, frozen=True):
    """The room for a workload on nodes that others need too."""

    pods: int
    """The number of pods, or of groups of a LeaderWorkerSet."""
    others: tuple[str, ...]


def room_beside(facts: Facts, room: QueueRoom) -> Beside | None:
    """The room by the resource that runs out in the queue; None if unknown, or without others."""
    index = facts.derive(node_index)
    mine: Bits = 0
    for it in facts.derive(pod_demands) if index.all else ():
        if it.workload is room.workload and room.resource in _requests(it):
            mine |= _takers(it, index)
    others = [
        it
        for part in facts.derive(_parts)
        if not part.nodes & ~mine
        for it in part.members
        if it.workload is not room.workload and room.resource in _requests(it)
    ]
    sizes = _sizes(_room_for(others, index), mine, room.resource)
    if sizes is None or not others:
        return None
    used = sum((_requests(it)[room.resource] * (it.pods or 0) for it in others), Fraction(0))
    names = tuple(dict.fromkeys(str(it.workload) for it in others))
    return Beside(int((sizes.have - used) // room.each), names)


class _Need(Struct, dict=True):
    """What pods request of a resource."""

    pods: Counter[Fraction]
    """The number of the pods by their requests."""

    @cached_property
    def least(self) -> Fraction:
        """The smallest request."""
        return min(self.pods)

    @cached_property
    def rough(self) -> float:
        """The sum of their requests."""
        return float(_sum(self.pods.items()))

    @cached_property
    def rough_most(self) -> float:
        """The largest request."""
        return float(max(self.pods))


class _Part(Struct, frozen=True, eq=False, dict=True):
    """Templates whose pods the same nodes may take."""

    position: int
    nodes: Bits
    members: list[PodDemand]

    @cached_property
    def needs(self) -> Mapping[str, _Need]:
        """What their pods request, by resource."""
        found: dict[str, Counter[Fraction]] = {}
        for it in self.members:
            for name, amount in _requests(it).items():
                found.setdefault(name, Counter())[amount] += it.pods or 0
        return {name: _Need(pods) for name, pods in found.items()}


class _Sizes(Struct, frozen=True, eq=False):
    """Nodes by their amounts of a resource."""

    count: int
    """The number of nodes."""
    numbers: Mapping[Fraction, int]
    """The number of nodes, or of sums of nodes, by their amount."""

    @property
    def have(self) -> Fraction:
        """The sum of the amounts."""
        return _sum(self.numbers.items())


def excess_with(facts: Facts, it: PodDemand, pods: int) -> Excess | None:
    """What the pods of workloads that do not end exceed with more pods of a template; None: nothing certain.

    Pods that the new pods may evict do not count. The nodes are those that take the new pods, or more.
    """
    index = facts.derive(node_index)
    takers = _takers(it, index) if index.all else 0
    staying = facts.derive(_Staying).parts(it) if takers else ()
    more = replace(it, pods=pods)
    for nodes in dict.fromkeys((takers, *(each.nodes for each in staying))):
        if takers & ~nodes:
            continue
        inside = [each for each in staying if not each.nodes & ~nodes]
        members = [*(member for each in inside for member in each.members), more]
        room = _room_for(members, index)
        parts = [*inside, _Part(len(staying), takers, [more])]
        for found in _excesses(parts, nodes, room, alone=False) if inside else ():
            if found.members[-1] is more:
                return found
    return None


class _Staying:
    """The parts of workloads whose pods do not end; use it with `facts.derive`."""

    def __init__(self, facts: Facts) -> None:
        self._cluster = facts.cluster
        over = {id(it) for each in facts.derive(node_sums).excesses for it in each.members}
        self._parts = [
            _Part(part.position, part.nodes, members)
            for part in facts.derive(_parts)
            if (members := [it for it in part.members if id(it) not in over])
        ]
        self._known: dict[tuple[str, bool, bool], list[_Part]] = {}

    def parts(self, it: PodDemand) -> Sequence[_Part]:
        """Without pods that these pods may evict: by their priority, or in one system of queues."""
        name, kueue, volcano = key = (
            it.template.spec.priority_class_name,
            bool(it.ways[0].flavors),
            queues.to_volcano(it.template),
        )
        if key not in self._known:
            least = self._least_kept(it)
            self._known[key] = [
                _Part(part.position, part.nodes, kept)
                for part in self._parts
                if (
                    kept := [
                        other
                        for other in part.members
                        if self._stays(other, name, least)
                        if not (kueue and other.ways[0].flavors)
                        if not (volcano and queues.to_volcano(other.template))
                    ]
                )
            ]
        return self._known[key]

    def _least_kept(self, it: PodDemand) -> int:
        """The lowest priority that the pods do not evict."""
        return it.ways[0].demand.priority

    def _stays(self, other: PodDemand, name: str, least: int) -> bool:
        """Whether pods of a class, which keep those of a least priority, certainly do not evict these pods."""
        own = other.template.spec.priority_class_name
        priority = of_class(self._cluster, own)
        return own == name or (priority is not None and priority >= least)


def gang_sums(facts: Facts) -> tuple[Excess, ...]:
    """The same bounds for the pods of one workload with several templates; use it with `facts.derive`.

    Without workloads of which one template alone has no room.
    """
    index, without_room = facts.derive(node_index), facts.derive(exceeding)
    workloads: dict[At, list[PodDemand]] = {}
    for it in facts.derive(pod_demands) if index.all else ():
        if len(it.workload.templates) > 1:
            workloads.setdefault(it.workload.at, []).append(it)
    found: list[Excess] = []
    for members in workloads.values():
        if not any(it in without_room for it in members):
            found += _bounded(list(_gang_parts(members, index)), index, alone=True).excesses[:1]
    return tuple(found)


def _gang_parts(members: Sequence[PodDemand], index: NodeIndex) -> Iterator[_Part]:
    """The templates of a workload, with the pods that must run at the same time."""
    templates = members[0].workload.templates
    pods = dict(zip([it.at for it in templates], pods_together(members[0].workload), strict=False))
    for i, it in enumerate(members):
        takers = _takers(it, index)
        if takers and pods.get(it.template.at):
            yield _Part(i, takers, [replace(it, pods=pods[it.template.at])])


class _Subsets:
    """Parts, to find those whose nodes are all in a set. Compares only parts whose first node is in it."""

    def __init__(self) -> None:
        self._by_first: dict[Bits, list[_Part]] = {}
        self._firsts: Bits = 0
        self.compared = 0

    def add(self, part: _Part) -> None:
        """Add a part with at least one node."""
        first = part.nodes & -part.nodes
        self._firsts |= first
        self._by_first.setdefault(first, []).append(part)

    def inside(self, nodes: Bits) -> Iterator[_Part]:
        """The parts that only these nodes take."""
        outside, firsts = ~nodes, self._firsts & nodes
        while firsts:
            first = firsts & -firsts
            firsts ^= first
            parts = self._by_first[first]
            self.compared += len(parts)
            yield from (part for part in parts if not part.nodes & outside)


def _bounded(every: Sequence[_Part], index: NodeIndex, *, alone: bool) -> NodeSums:
    """What exceeds a set of nodes. `alone`: also pods of one workload alone."""
    found: list[Excess] = []
    smaller, exceeded = _Subsets(), _Subsets()
    added = 0
    for largest in sorted(every, key=lambda part: part.nodes.bit_count()):
        if smaller.compared + exceeded.compared > _MOST_COMPARED or added > _MOST_ADDED:
            return NodeSums(tuple(found), _UNCHECKED)
        nodes = largest.nodes
        smaller.add(largest)
        if any(exceeded.inside(nodes)):
            continue
        inside = sorted(smaller.inside(nodes), key=lambda part: part.position)
        added += len(inside)
        if len(inside) < 2 and len(inside[0].members) < 2:
            continue
        members = [it for part in inside for it in part.members]
        excesses = _excesses(inside, nodes, _room_for(members, index), alone=alone)
        excess = next(excesses, None)
        if excess is not None:
            exceeded.add(largest)
            if isinstance(excess, SumExcess):
                others = (it for it in excesses if isinstance(it, SumExcess))
                excess = replace(excess, others=tuple(others))
            found.append(excess)
    return NodeSums(tuple(found))


def _parts(facts: Facts) -> Sequence[_Part]:
    """The templates of lasting workloads with room of their own, by the nodes that may take them.

    Pods for which replicas-exceed-queue reports that their queue has no room, or which a LimitRange refuses, do not
    count.
    """
    reported = facts.derive(queue_rooms) if "replicas-exceed-queue" in facts.run else ()
    rooms = {id(room.workload): room.pods for room in reported}
    without_room = facts.derive(exceeding)
    gangs = {it.members[0].workload.at for it in facts.derive(gang_sums)}
    index, refused = facts.derive(node_index), facts.derive(refused_by_range)
    seen: set[tuple[object, ...]] = set()
    found: dict[Bits, list[PodDemand]] = {}
    for it in facts.derive(pod_demands) if index.all else ():
        workload = it.workload
        if workload.object.group not in _LASTING or workload.kind == "Pod":
            continue
        if it in without_room or workload.at in gangs or id(it.template) in refused:
            continue
        key = (workload.kind, workload.namespace, workload.name, it.template.at.path)
        if not it.pods or key in seen:
            continue
        seen.add(key)
        if takers := _takers(it, index):
            found.setdefault(takers, []).append(_running(it, rooms.get(id(workload), 0)))
    return [_Part(i, nodes, members) for i, (nodes, members) in enumerate(found.items())]


def _running(it: PodDemand, room: int) -> PodDemand:
    """The demand with the pods that run if their queue has room for some of them."""
    count, pods = it.workload.spec.get("replicas"), it.pods or 0
    if not isinstance(count, int) or not it.template.replicas:
        return it
    wanted = (
        pods * count // it.template.replicas
    )  # more than replicas: the minimum of an autoscaler
    return replace(it, pods=pods * room // wanted) if 0 < room < wanted else it


def _room_for(members: Iterable[PodDemand], index: NodeIndex) -> NodeIndex:
    return index.of(*(way.demand for it in members for way in it.ways))


def _takers(it: PodDemand, index: NodeIndex) -> Bits:
    """The nodes that may take the pods."""
    found = 0
    for way in it.ways:
        found |= index.takers(way.demand)
    return found


def _excesses(
    inside: Sequence[_Part], nodes: Bits, index: NodeIndex, *, alone: bool
) -> Iterator[Excess]:
    """What exceeds the nodes; `inside` are the parts that no other nodes take."""
    for resource in sorted({name for part in inside for name in part.needs}, key=_native_last):
        parts = [part for part in inside if resource in part.needs]
        needs = [part.needs[resource] for part in parts]
        if not _is_sparse(needs, nodes, index.levels(resource)):
            sizes = _sizes(index, nodes, resource, min(need.least for need in needs))
            if sizes is not None:
                yield from _exceeding(parts, resource, sizes, alone=alone)


def _is_sparse(needs: Sequence[_Need], nodes: Bits, levels: Levels) -> bool:
    """Whether the pods certainly need less than half of the nodes that the largest pod fits.

    Then they exceed no bound: a node that takes no more such pods is more than half full.
    """
    requested = sum(need.rough for need in needs)
    most = max(need.rough_most for need in needs)
    have = sum(
        float(level.have) * level.number * (level.nodes & nodes).bit_count()
        for level in levels.known
        if level.most is not None and float(level.most) > most * _UP
    )
    return 2 * requested * _UP < have


def _exceeding(
    parts: Sequence[_Part], resource: str, sizes: _Sizes, *, alone: bool
) -> Iterator[Excess]:
    asked = [
        (it, amount)
        for part in parts
        for it in part.members
        if (amount := _requests(it).get(resource))
    ]
    if not alone and len({it.workload.at for it, _ in asked}) < 2:
        return
    members = tuple(it for it, _ in asked)
    pods: Counter[Fraction] = Counter()
    for part in parts:
        pods.update(part.needs[resource].pods)
    requested = _sum(pods.items())
    if requested > sizes.have:
        yield SumExcess(members, sizes.count, resource, requested, sizes.have)
    elif len(sizes.numbers) == 1:
        [(size, number)] = sizes.numbers.items()
        least_nodes = least_bins(pods, size)
        if least_nodes > number:
            yield NodeExcess(members, sizes.count, resource, least_nodes, size)
    for least, wanted, room in _crowded(pods, sizes.numbers):
        large = tuple(it for it, amount in asked if amount >= least)
        if alone or len({it.workload.at for it in large}) > 1:
            yield PodExcess(large, sizes.count, resource, wanted, least, room)


def _crowded(
    pods: Mapping[Fraction, int], sizes: Mapping[Fraction, int]
) -> Iterator[tuple[Fraction, int, int]]:
    """Amounts, the largest first, that more pods request than the nodes have room for: both numbers."""
    left = sorted(sizes.items())
    wanted = 0
    requested = have = Fraction(0)
    for least in sorted(pods, reverse=True):
        wanted += pods[least]
        requested += least * pods[least]
        while left and left[-1][0] >= least:
            have += _sum([left.pop()])
        if 2 * requested > have:
            room = sum(int(size // least) * number for size, number in sizes.items())
            if wanted > room:
                yield least, wanted, room


def _requests(it: PodDemand) -> Mapping[str, Fraction]:
    return {**dict(it.ways[0].demand.requests), "pods": Fraction(1)}


def _sizes(
    index: NodeIndex, nodes: Bits, resource: str, least: Fraction = Fraction(0)
) -> _Sizes | None:
    """The nodes that have, or may have, an amount of a resource; None: some have an unknown amount."""
    levels = index.levels(resource)
    if levels.unknown & nodes:
        return None
    found: list[tuple[Level, int]] = [
        (level, number)
        for level in levels.known
        if (number := (level.nodes & nodes).bit_count())
        and (level.most is None or level.most >= least)
    ]
    numbers: dict[Fraction, int] = {}
    for level, number in found:
        numbers[level.have] = numbers.get(level.have, 0) + number * level.number
    return _Sizes(sum(number * level.count for level, number in found), numbers)


def _sum(amounts: Iterable[tuple[Fraction, int]]) -> Fraction:
    return sum((amount * number for amount, number in amounts), Fraction(0))


def _native_last(resource: str) -> tuple[bool, str]:
    return "/" not in resource, resource
