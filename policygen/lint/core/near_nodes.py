"""The nodes that come nearest to taking pods that no node takes."""

from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from fractions import Fraction
from functools import lru_cache
from itertools import groupby

from msgspec import Struct
from msgspec.structs import replace

from policygen.kubernetes.accelerators import is_one
from policygen.kubernetes.node_filters import (
    Demand,
    Differs,
    Miss,
    NoTerm,
    NotTolerated,
    OtherName,
    TooLittle,
    misses_beside_amounts,
    missing_amounts,
)
from policygen.kubernetes.node_groups import NodeGroup
from policygen.kubernetes.node_index import NodeIndex
from policygen.lint.core.known_nodes import node_index
from policygen.lint.core.pod_demands import PodDemand, Way
from policygen.lint.rule import Facts

_ANY_AMOUNT = Fraction(1, 10**9)


class NearNodes(Struct, frozen=True, eq=False):
    """Nodes that refuse the pods for the same reasons."""

    misses: tuple[Miss, ...]
    way: Way
    groups: tuple[NodeGroup, ...]
    values: tuple[str, ...] = ()
    """If only one label differs: its values on all nodes that are equally near."""

    @property
    def count(self) -> int:
        """The number of the nodes."""
        return sum(group.count for group in self.groups)


class _Refusing(Struct, frozen=True, eq=False):
    """A group of nodes, and what keeps pods away whatever they request."""

    nodes: NodeGroup
    before: tuple[Miss, ...]
    """In the filters before that of amounts."""
    after: tuple[Miss, ...]
    changes: int
    """The number of changes that they need."""
    is_selected: bool
    """Whether the pods have selectors, and select the nodes."""


class _Choice(Struct, frozen=True, eq=False):
    """A group of nodes for one way in which the pods start."""

    position: int
    """In the order of the input, which decides between nodes that are equally near."""
    way: int
    """The number of the way."""
    demand: Demand
    group: _Refusing


class _Near(Struct, frozen=True, eq=False):
    """Nodes that refuse pods for the same reasons in one way."""

    misses: tuple[Miss, ...]
    way: int
    groups: tuple[NodeGroup, ...]
    distance: tuple[int, int, float, bool, int, int]
    """Sorts them: first nodes with the requested devices, then by changes, likeness, other devices and number."""
    values: tuple[str, ...] = ()


class NearestNodes:
    """Finds the nodes that need the fewest changes, and keeps the answer for equal pods."""

    def __init__(self, index: NodeIndex) -> None:
        self._index = index
        self._groups: dict[Demand, Sequence[_Refusing]] = {}
        """By demand without requests."""
        self._known: dict[tuple[Demand, ...], _Near] = {}

    def of(self, it: PodDemand) -> NearNodes | None:
        """The nearest nodes; None if a node takes the pods, or may take them."""
        if any(self._index.takers(way.demand) for way in it.ways):
            return None
        demands = tuple(way.demand for way in it.ways)
        if demands not in self._known:
            self._known[demands] = self._nearest(demands)
        found = self._known[demands]
        return NearNodes(found.misses, it.ways[found.way], found.groups, found.values)

    def _nearest(self, demands: Sequence[Demand]) -> _Near:
        every = list(self._choices(demands))
        selected = list(_near(it for it in every if it.group.is_selected))
        if selected and all(map(_lists_zero, selected)):
            return min(selected, key=_distance)
        every.sort(key=lambda it: it.group.changes)
        missing = min(map(self._missing, demands))
        best: _Near | None = None
        for changes, choices in groupby(every, key=lambda it: it.group.changes):
            if best and best.distance[0] == missing and best.distance[1] < changes:
                break  # the others need more changes
            near = list(_near(choices))
            nearest = min(near, key=_distance)
            if best is None or nearest.distance < best.distance:
                best = replace(nearest, values=_values(nearest, near))
        assert best is not None  # noqa: S101 - there are nodes
        return best

    def _choices(self, demands: Sequence[Demand]) -> Iterator[_Choice]:
        position = 0
        for way, demand in enumerate(demands):
            for group in self._groups_for(replace(demand, requests=())):
                yield _Choice(position, way, demand, group)
                position += 1

    def _groups_for(self, without_requests: Demand) -> Sequence[_Refusing]:
        found = self._groups.get(without_requests)
        if found is None:
            found = []
            selects = bool(without_requests.selector or without_requests.terms)
            for nodes in self._index.of(without_requests).nodes.groups(without_requests.keys):
                before, after = misses_beside_amounts(without_requests, nodes)
                changes = len({_subject(it) for it in (*before, *after)})
                others = any(isinstance(it, Differs | NoTerm | OtherName) for it in before)
                found.append(_Refusing(nodes, before, after, changes, selects and not others))
            self._groups[without_requests] = found
        return found

    def _missing(self, demand: Demand) -> int:
        """The number of requested devices of which no node has any."""
        return sum(
            is_one(name) and not self._index.of(demand).at_least(name, _ANY_AMOUNT)
            for name, _ in demand.requests
        )


def nearest_nodes(facts: Facts) -> NearestNodes:
    """The nearest of all known nodes; use it with `facts.derive`."""
    return NearestNodes(facts.derive(node_index))


def _near(choices: Iterable[_Choice]) -> Iterator[_Near]:
    """The nodes with their amounts, those with equal misses together."""
    found: dict[tuple[int, tuple[Miss, ...]], list[_Choice]] = {}
    for it in choices:
        amounts = missing_amounts(it.demand, it.group.nodes)
        missed = (*it.group.before, *amounts, *it.group.after)
        found.setdefault((it.way, missed), []).append(it)
    for (way, missed), equal in found.items():
        groups = tuple(it.group.nodes for it in equal)
        distance = (
            sum(map(_is_without, missed)),
            len({_subject(it) for it in missed}),
            sum(_unlike(it) for it in missed if isinstance(it, Differs)),
            _wastes_devices(equal[0].demand, groups),
            -sum(group.count for group in groups),
            equal[0].position,
        )
        yield _Near(missed, way, groups, distance)


def _values(best: _Near, near: Iterable[_Near]) -> tuple[str, ...]:
    """The values of the only label that differs, on all nodes that are as near as the best ones, whose value comes first."""
    if sum(isinstance(it, Differs) for it in best.misses) != 1:
        return ()
    found: dict[str | None, None] = {}
    for it in (best, *near):
        if it.distance[:4] == best.distance[:4] and _without_value(it) == _without_value(best):
            found.update({miss.value: None for miss in it.misses if isinstance(miss, Differs)})
    return tuple(it for it in found if it is not None)


def _without_value(near: _Near) -> tuple[int, tuple[Miss, ...]]:
    misses = (replace(it, value=None) if isinstance(it, Differs) else it for it in near.misses)
    return near.way, tuple(misses)


def _distance(near: _Near) -> tuple[int, int, float, bool, int, int]:
    return near.distance


def _wastes_devices(demand: Demand, groups: Iterable[NodeGroup]) -> bool:
    """Whether pods without devices would run on nodes with devices."""
    return not any(is_one(name) for name, _ in demand.requests) and any(
        is_one(name) for group in groups for size in group.sizes for name in size.allocatable
    )


def _is_without(miss: Miss) -> bool:
    """Whether nodes have none of a requested device."""
    return isinstance(miss, TooLittle) and is_one(miss.resource) and not miss.have


def _lists_zero(near: _Near) -> bool:
    return any(
        isinstance(miss, TooLittle)
        and is_one(miss.resource)
        and not node.allocatable.get(miss.resource, 1)
        for miss in near.misses
        for group in near.groups
        for node in group.nodes
        if node.at
    )


def _subject(miss: Miss) -> object:
    """What a user must change: all amounts are one change."""
    match miss:
        case Differs(placed):
            return placed.requirement.key
        case NotTolerated(taint):
            return taint
    return type(miss)


def _unlike(miss: Differs) -> float:
    """How different the value of a node is from the nearest required value, from 0 to 1."""
    values = miss.placed.requirement.values
    if miss.value is None or not values:
        return 1.0
    return 1 - max(_likeness(it.lower(), miss.value.lower()) for it in values)


@lru_cache(maxsize=1 << 16)
def _likeness(required: str, value: str) -> float:
    """How alike two values are, from 0 to 1."""
    return SequenceMatcher(None, required, value).ratio()
