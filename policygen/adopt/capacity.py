"""The nodes of a pool, found so that the plan computes the amounts that its queues divide.

Queues hold only sums: units, cores and bytes of the complete pool. How many GPUs a node has is
not in them, so the most usual number is taken with which every sum comes out exactly.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import islice, product
from math import isqrt

from msgspec import Struct

from policygen.core.names import GPU
from policygen.core.quantity import MEBIBYTE
from policygen.plan.amounts import CPU, HOST, MEMORY, Vector
from policygen.spec.types import Capacity, Gpu, NodeResources

USUAL = (8, 4, 2, 1, 16)
"""GPUs on a node, the most usual number first."""

MOST_GPUS = 1_000_000
MOST_PER_NODE = MOST_REPLICAS = 1024
"""Bounds of the schema of a ResourcePool."""

_MIG = re.compile(r"mig-(?P<profile>(?P<slices>[1-7])g\.[0-9]+gb)(?P<extras>[.+-].+)?")
_SLICES = 7
_OF_A_CARD = {"1g.5gb": 7, "2g.10gb": 3, "3g.20gb": 2, "7g.40gb": 1}
"""How many instances of a profile a card has."""
_MOST_SIZES = 125
"""Sizes of a node to try for one number of cards with MIG instances."""
_PARTS = 16
"""The next number of nodes that is tried is larger by one of so many parts."""
_MOST_COMPARED = 500
"""Shapes of each form of sharing whose pods are compared, where any number of nodes is possible."""
_MOST_PARTIAL = 2048
"""Numbers of cards to try that do not fill their nodes."""

DEFAULT_NODE = NodeResources(96_000, 1024 << 30)
"""A node whose cpu and memory no object shows; the spec marks it as a guess."""


class PodShare(Struct, frozen=True):
    """A pod that the plan gives cpu and memory, if its model sets none."""

    resource: str
    units: int
    cpu_milli: int
    memory_bytes: int


class MigCard(Struct, frozen=True):
    """The cards of a product that has the MIG profiles of a pool."""

    product: str
    cards: int
    """The fewest cards that hold all instances of the pool."""
    most: Vector
    """How many instances of each profile a card can have, by resource."""


class NodeNeed(Struct, frozen=True):
    """What one node must hold at least: the pods that the objects name."""

    units: int = 1
    cpu_milli: int = 1
    memory_bytes: int = MEBIBYTE
    shares: tuple[PodShare, ...] = ()
    """The pods whose cpu and memory is probably the share of their GPUs."""
    card: MigCard | None = None
    """The probable product of a pool with MIG instances; None if no pods were read."""
    exact: bool = True
    """Whether cpu and memory of the nodes add up to the amounts; False: the nodes can have more."""


NO_NEED = NodeNeed()


class NodeShape(Struct, frozen=True):
    """The GPUs and the capacity of a pool, and the most units on one of its nodes."""

    gpu: Gpu
    capacity: Capacity
    units_per_node: int

    def is_short(self, need: NodeNeed) -> bool:
        """Whether a node does not hold what is needed."""
        node = self.capacity.node_allocatable or DEFAULT_NODE
        return (
            self.units_per_node < need.units
            or node.cpu_milli < need.cpu_milli
            or node.memory_bytes < need.memory_bytes
        )


def shapes(available: Vector, need: NodeNeed = NO_NEED) -> Iterator[NodeShape]:
    """Every shape of a pool with which the plan computes these amounts, the most usual first.

    cpu and memory that are not in the amounts are those of DEFAULT_NODE for 8 GPUs, if a pod needs no
    more, or the least that is needed where a pod requests none of them.
    """
    units = {name: count for name, count in available.items() if name not in HOST and count > 0}
    if not units:
        # A pool has at least one GPU, also where all quotas are 0.
        units = dict.fromkeys([name for name in available if name not in HOST][:1], 1)
    if not units:
        return
    mig = {name: found for name in units if (found := _MIG.fullmatch(name.partition("/")[2]))}
    if mig and len(mig) == len(units):
        yield from _cut(units, mig, available, need)
        return
    resource, count = max(units.items(), key=lambda it: it[1])
    own = None if resource == GPU else resource
    for replicas in (it for it in range(1, MOST_REPLICAS + 1) if _divides(it, count)):
        made = False
        for per_node, node in _nodes(count // replicas, available, need):
            shape = NodeShape(
                gpu=Gpu(
                    per_node=per_node,
                    resource=own,
                    sharing="timeSlicing" if replicas > 1 else "none",
                    replicas=replicas,
                ),
                capacity=_capacity(count // replicas, per_node, node),
                units_per_node=per_node * replicas,
            )
            made = made or not shape.is_short(need)
            yield shape
        if made:
            break  # complete cards are more usual than shared ones
    if need.shares:
        yield from _cut_alike(count, own, available, need)


def _cut_alike(
    count: int, own: str | None, available: Vector, need: NodeNeed
) -> Iterator[NodeShape]:
    """Pools whose cards have instances of one MIG profile, which pods request as GPUs.

    Nodes can have other numbers of these than equal cards make. No object shows the profile.
    """

    def of_cards(
        numbers: Iterable[int], per_node: int, most: int, profile: str
    ) -> Iterator[NodeShape]:
        for cards in numbers:
            for size, node in _nodes(cards, available, need, (per_node,)):
                yield NodeShape(
                    gpu=Gpu(
                        per_node=size,
                        resource=own,
                        sharing="mig",
                        mig_strategy="single",
                        instances=((profile, count),),
                    ),
                    capacity=_capacity(cards, size, node),
                    units_per_node=min(count, size * most),
                )

    forms = list(product(_OF_A_CARD.items(), USUAL))
    for (profile, most), per_node in forms:
        least = -(-count // (per_node * most))
        nodes = _node_counts(least, count, available, need)
        yield from of_cards((it * per_node for it in nodes), per_node, most, profile)
    if need.exact and available.get(CPU):  # few numbers make these sums
        for (profile, most), per_node in forms:
            least = -(-count // most)
            partial = (it for it in range(least, least + _MOST_PARTIAL) if it % per_node)
            yield from of_cards(partial, per_node, most, profile)


def _node_counts(least: int, most: int, available: Vector, need: NodeNeed) -> Iterator[int]:
    """Numbers of nodes to try: those that divide all cpu, or some of each size if it is not counted."""
    total = available.get(CPU, 0) if need.exact else 0
    if total:
        yield from (it for it in _divisors(total) if least <= it <= most)
        return
    count = least
    while count <= most:
        yield count
        count += 1 + count // _PARTS


@lru_cache(maxsize=16)
def _divisors(number: int) -> list[int]:
    pairs = ({it, number // it} for it in range(1, isqrt(number) + 1) if number % it == 0)
    return sorted(it for pair in pairs for it in pair)


def _divides(replicas: int, count: int) -> bool:
    return count % replicas == 0 and count // replicas <= MOST_GPUS


def _capacity(cards: int, per_node: int, node: NodeResources) -> Capacity:
    """Complete nodes are counted as nodes."""
    if cards % per_node == 0:
        return Capacity(nodes=cards // per_node, node_allocatable=node)
    return Capacity(total_gpus=cards, node_allocatable=node)


def _cut(
    units: Vector,
    mig: dict[str, re.Match[str]],
    available: Vector,
    need: NodeNeed,
) -> Iterator[NodeShape]:
    """Pools with MIG instances: the fewest cards that hold all instances.

    Where pods show the size of a node, also any number of equal nodes. Pods choose one of several profiles by the
    memory of its instances, which only a product shows.
    """
    if need.card is None or len(units) == 1:
        yield from _cut_cards(None, units, mig, available, need)
    if need.card is not None:
        yield from _cut_cards(need.card, units, mig, available, need)


def _cut_cards(
    card: MigCard | None,
    units: Vector,
    mig: dict[str, re.Match[str]],
    available: Vector,
    need: NodeNeed,
) -> Iterator[NodeShape]:
    domain = next(iter(units)).partition("/")[0]
    own = None if f"{domain}/gpu" == GPU else f"{domain}/gpu"
    slices = {name: int(found["slices"]) for name, found in mig.items()}
    most = card.most if card else {name: _SLICES // count for name, count in slices.items()}
    instances = tuple(
        sorted((found["profile"] + _extras(found), units[name]) for name, found in mig.items())
    )
    whole = sum(units[name] * slices[name] for name in units)
    least = max(
        -(-whole // _SLICES),
        *(-(-units[it] // most[it]) for it in units),
        card.cards if card else 1,
    )
    largest = max(slices.values())

    def shape(cards: int, per_node: int, node: NodeResources) -> NodeShape:
        return NodeShape(
            gpu=Gpu(
                product=card.product if card else None,
                per_node=per_node,
                resource=own,
                sharing="mig",
                instances=instances,
            ),
            capacity=_capacity(cards, per_node, node),
            units_per_node=max(min(units[it], per_node * most[it]) for it in units),
        )

    for cards in dict.fromkeys((least, *range(least, least + 16), max(units.values()), whole)):
        if cards > MOST_GPUS:
            continue
        sizes = (it for it in _nodes(cards, available, need) if largest * cards <= whole * it[0])
        made = [*islice(sizes, _MOST_SIZES)]
        yield from (shape(cards, *it) for it in made)
        if made:
            break
    yield from (shape(*it) for it in _partial_nodes(least, available, need))
    for count in _node_counts(1, whole // largest, available, need) if need.shares else ():
        per_node = -(-least // count)
        if per_node <= MOST_PER_NODE:
            for size, node in _nodes(count * per_node, available, need, (per_node,)):
                yield shape(count * size, size, node)


def _partial_nodes(
    least: int, available: Vector, need: NodeNeed
) -> Iterator[tuple[int, int, NodeResources]]:
    """Numbers of cards that do not fill their nodes, with the cards of a node and its size."""
    if need.shares and need.exact and available.get(CPU):  # few numbers make these sums
        for per_node, cards in product(USUAL, range(least, least + _MOST_PARTIAL)):
            if cards % per_node:
                for size, node in _nodes(cards, available, need, (per_node,)):
                    yield cards, size, node


def _extras(found: re.Match[str]) -> str:
    """The end of a profile: a resource name has a dot for the plus sign of `1g.10gb+me`."""
    extras = found["extras"] or ""
    return f"+{extras[1:]}" if extras.startswith(".") else extras


def _nodes(
    cards: int,
    available: Vector,
    need: NodeNeed,
    sizes: Iterable[int] = (*USUAL, *range(1, MOST_PER_NODE + 1)),
) -> Iterator[tuple[int, NodeResources]]:
    """GPUs on a node, with the cpu and memory of a node that make the sums of this many cards."""
    counts = dict.fromkeys(sizes)
    complete = [it for it in counts if cards % it == 0]
    partial = [it for it in counts if cards % it]
    for per_node in (*complete, *partial):
        cpu = _of_node(available.get(CPU), cards, per_node, 1, exact=need.exact)
        memory = _of_node(available.get(MEMORY), cards, per_node, MEBIBYTE, exact=need.exact)
        if CPU not in available:
            usual = DEFAULT_NODE.cpu_milli * per_node // USUAL[0] or 1
            cpu = 0 if any(it.cpu_milli == 0 for it in need.shares) else usual
        if MEMORY not in available:
            usual = DEFAULT_NODE.memory_bytes * per_node // USUAL[0]
            memory = 0 if any(it.memory_bytes == 0 for it in need.shares) else usual
        if cpu is not None and (CPU not in available or not need.exact):
            cpu = max(cpu, need.cpu_milli)
        if memory is not None and (MEMORY not in available or not need.exact):
            memory = max(memory, need.memory_bytes)
        if cpu is not None and memory is not None:
            yield per_node, NodeResources(cpu, memory)


def _of_node(total: int | None, cards: int, per_node: int, step: int, *, exact: bool) -> int | None:
    """The least round amount of a node for which that of the cards, in steps, is the total.

    If not `exact`, at least the total.
    """
    if total is None:
        return None

    def of_cards(node: int) -> int:
        return node * cards // per_node // step * step

    least = -(-total * per_node // cards)
    rounded = -(-least // step) * step
    for node in (max(rounded, step), max(least, 1)):
        if of_cards(node) == total or not exact:
            return node
    return None


def best(
    available: Vector,
    need: NodeNeed,
    rank: Callable[[int], int],
    others: Callable[[NodeShape], tuple[int, int]] = lambda _: (0, 0),
    *,
    packed: bool = False,
) -> NodeShape | None:
    """The first shape of the lowest rank by units on a node; None if no shape makes the amounts.

    Shapes whose nodes hold what is needed come before all others, and those of rank 2 are the last, also
    behind nodes that are too small if pods show that the pool is `packed`. `others` are the pods that
    request none of what is their share of a node, and those that request another amount than their share; both
    numbers decide before the rank.
    """
    found: NodeShape | None = None
    tried: Counter[str] = Counter()
    lowest: tuple[tuple[bool, bool, bool], tuple[int, int], int] | None = None
    for shape in shapes(available, need):
        worse = rank(shape.units_per_node)
        never = worse > 1
        first = (never and packed, shape.is_short(need), never)
        if (lowest is not None and first > lowest[0]) or tried[shape.gpu.sharing] == _MOST_COMPARED:
            continue
        place = first, (0, 0) if never else others(shape), worse
        tried[shape.gpu.sharing] += not never
        if lowest is None or place < lowest:
            found, lowest = shape, place
        if place == ((False, False, False), (0, 0), 0):
            break
    return found
