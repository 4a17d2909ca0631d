"""The MIG instances of each node of a pool, of which a spec states only the sums.

They are spread over the nodes as evenly as the slots of the cards allow: an operator gives all nodes one
configuration (NVIDIA/mig-parted), and another one only to nodes that must differ.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache

from policygen.hardware import catalog, mig
from policygen.hardware.mig import Counts
from policygen.plan.pool import PoolFacts


def node_instances(pool: PoolFacts, nodes: int) -> list[Mapping[str, int]]:
    """The number of instances by resource, for each of the nodes of a pool with sharing `mig`.

    The sums are those of the spec, and the cards of each node hold its instances. If the MIG profiles
    of the product are not known, only the sums hold.
    """
    needs = tuple(pool.available[it] for it in pool.resources)
    capacity = pool.pool.capacity
    total = capacity.available_gpus or capacity.total_gpus or nodes * pool.per_node
    cards = [max(min(pool.per_node, total - i * pool.per_node), 0) for i in range(nodes)]
    family = catalog.mig_family(pool.product) if pool.product else None
    if family is None:
        return _named(pool, _even(needs, [1] * nodes, lambda *_: True))
    layouts = mig.layouts(family, [it.name for it in pool.cut])

    @cache
    def fits(counts: Counts, cards: int) -> bool:
        return mig.cards_needed(layouts, counts) <= cards

    return _named(pool, _even(needs, cards, fits) or _dealt(layouts, needs, cards))


@lru_cache(maxsize=1 << 8)  # each model of a pool asks
def fullest_node(pool: PoolFacts) -> int:
    """The slices of all MIG instances of the node that has most of them; 0 for a pool without instances."""
    if len(pool.resources) == 1 and pool.product is None:
        # Like the even nodes below, without a list of them: adopt tries many numbers of nodes.
        (name,) = pool.resources
        return -(-pool.available[name] // pool.node_count) * pool.slices[name]
    nodes = node_instances(pool, pool.node_count)
    return max((sum(n * pool.slices[it] for it, n in node.items()) for node in nodes), default=0)


def _named(pool: PoolFacts, found: Sequence[Counts]) -> list[Mapping[str, int]]:
    return [dict(zip(pool.resources, it, strict=True)) for it in found]


def _even(needs: Counts, cards: Sequence[int], fits: Callable[[Counts, int], bool]) -> list[Counts]:
    """Instances in proportion to the cards of each node; empty if the cards of a node do not hold its share.

    What remains of the largest profiles goes first, each to a node with the fewest such extra instances.
    """
    total = sum(cards)
    found = [tuple(need * it // total for need in needs) for it in cards]
    if not all(map(fits, found, cards)):
        return []
    extras = [0] * len(cards)
    for place in reversed(range(len(needs))):
        missing = needs[place] - sum(it[place] for it in found)
        for node in sorted(range(len(cards)), key=extras.__getitem__):
            counts = tuple(n + (i == place) for i, n in enumerate(found[node]))
            if missing and fits(counts, cards[node]):
                found[node] = counts
                extras[node] += 1
                missing -= 1
        if missing:
            return []
    return found


def _dealt(layouts: Sequence[Counts], needs: Counts, cards: Sequence[int]) -> list[Counts]:
    """Deals out the layouts of the fewest cards one after the other, and removes what they hold too much.

    It works for all instances that the cards hold together.
    """
    chosen = mig.fewest_cards(layouts, needs)
    places = [(turn, node) for node, count in enumerate(cards) for turn in range(count)]
    order = (node for _, node in sorted(places))
    held: list[Counter[int]] = [Counter() for _ in cards]
    for layout, count in zip(layouts, chosen, strict=True):
        for _ in range(count):
            held[next(order)].update(dict(enumerate(layout)))
    for place, need in enumerate(needs):
        for _ in range(sum(it[place] for it in held) - need):
            max(held, key=lambda it: it[place])[place] -= 1
    return [tuple(it[place] for place in range(len(needs))) for it in held]
