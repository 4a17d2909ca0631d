"""The units in which a pool's cards are counted: complete cards, shared ones, or MIG instances."""

import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from policygen.core.finding import At, Hit
from policygen.core.names import GPU
from policygen.core.quoting import counted, listed, quoted
from policygen.core.suggest import suggest
from policygen.hardware import catalog, mig
from policygen.hardware.catalog import MigFamily, MigProfile, Product
from policygen.plan.amounts import CPU, MEMORY, amount_of
from policygen.plan.rules import (
    MIG_INSTANCES_EXCEED_CARDS,
    MIG_INSTANCES_FEW,
    MIG_INSTANCES_UNLIKELY,
    MIG_NOT_POSSIBLE,
    SHARE_EXCEEDS_NODE,
    UNKNOWN_MIG_PROFILE,
)
from policygen.spec.pools import SHARED_PER_GPU
from policygen.spec.types import WHOLE, NodeResources, Pool

_PROFILE = re.compile(
    r"(?P<slices>[1-7])g\.(?P<gigabytes>[0-9]{1,4})gb(?P<extras>[+-][a-z]+(\.[a-z]+)?)?"
)
_SLICES = 7
"""Slices of the card of an unknown product; most products have this number."""


class Units(Struct, frozen=True):
    """The extended resources that a pool's nodes offer, smallest first."""

    resources: tuple[str, ...]
    """One for each MIG profile in a mixed pool."""
    profiles: tuple[str, ...]
    """The MIG profile behind each resource, or WHOLE."""
    available: dict[str, int]
    slices: dict[str, int]
    """The relative share of cpu and memory of a unit of each resource."""
    per_node: int
    """The most units of one resource on a node."""
    cut: tuple[MigProfile, ...] = ()
    """The known profiles that its cards are cut into."""


class Cards(Struct, frozen=True):
    """The available physical GPUs of a pool, and one of its nodes."""

    count: int
    per_node: int
    node: NodeResources


def units(pool: Pool, cards: Cards, product: Product | None, hits: list[Hit]) -> Units | None:
    """The units of the cards of a pool; None if they cannot be counted."""
    gpu = pool.gpu
    if gpu.sharing == "mig":
        return _mig(pool, cards, product, hits)
    resource = gpu.resource or GPU
    replicas = gpu.replicas if gpu.sharing in SHARED_PER_GPU else 1
    return Units(
        resources=(resource,),
        profiles=(WHOLE,),
        available={resource: cards.count * replicas},
        slices={resource: 1},
        per_node=cards.per_node * replicas,
    )


class _Slice(Struct, frozen=True):
    """The instances of one MIG profile in a pool."""

    profile: str
    count: int
    resource: str
    slices: int
    per_card: int
    facts: MigProfile | None


def _mig(pool: Pool, cards: Cards, product: Product | None, hits: list[Hit]) -> Units | None:
    family = catalog.mig_family(product) if product else None
    known = family.profiles if family else {}
    if product and not family:
        hits.append(_uncut(pool, product))
        return None
    at = pool.at / "spec" / "gpu" / "mig" / "instances"
    found: list[_Slice] = []
    for profile, count in pool.gpu.instances:
        shape = _PROFILE.fullmatch(profile)
        if shape is None or (known and profile not in known):
            hits.append(_unknown(profile, shape, product, known, (at / profile).on_key()))
            continue
        facts = known.get(profile)
        slices = int(shape["slices"])
        per_card = facts.max_per_gpu if facts else _SLICES // slices
        found.append(
            _Slice(profile, count, _resource(pool, profile, facts), slices, per_card, facts)
        )
    if not found or len(found) < len(pool.gpu.instances):
        return None
    found.sort(key=lambda it: (it.slices, it.resource))
    hits += (
        _above(found, cards.count, family, at)
        or _over_node(found, cards, at)
        or _placed(found, cards, family, at)
    )
    mixed = pool.gpu.mig_strategy == "mixed"
    return Units(
        resources=tuple(it.resource for it in found),
        profiles=tuple(it.profile if mixed else WHOLE for it in found),
        available={it.resource: it.count for it in found},
        slices={it.resource: it.slices for it in found},
        per_node=max(min(it.count, cards.per_node * it.per_card) for it in found),
        cut=tuple(it.facts for it in found if it.facts),
    )


def _resource(pool: Pool, profile: str, facts: MigProfile | None) -> str:
    """The resource name that the device plugin gives to instances of a profile."""
    resource = pool.gpu.resource or GPU
    if pool.gpu.mig_strategy == "single":
        return resource
    suffix = facts.resource_suffix if facts else f"mig-{profile.replace('+', '.')}"
    return f"{resource.partition('/')[0]}/{suffix}"


def _above(found: list[_Slice], cards: int, family: MigFamily | None, at: At) -> list[Hit]:
    """The profiles with more instances than the cards can have; if none, a sum of slices above theirs."""
    rule = MIG_INSTANCES_EXCEED_CARDS if family else MIG_INSTANCES_UNLIKELY
    hits = [
        Hit(
            rule,
            f"mig.instances has {it.count} instances of MIG profile {it.profile}, but "
            f"{counted(cards, 'card')} can have only {cards * it.per_card}; {_lowered(it, found, cards, family)}",
            at / it.profile,
        )
        for it in found
        if it.count > cards * it.per_card
    ]
    if hits:
        return hits
    used = sum(it.count * it.slices for it in found)
    held = sum(it.count * it.facts.memory_slices for it in found if it.facts)
    compute = family.compute_slices if family else _SLICES
    memory = family.memory_slices if family else 0
    sums = ((used, cards * compute, "compute"), (held, cards * memory, "memory"))
    return [
        Hit(
            rule,
            f"the MIG instances need {need} {what} slices, but {counted(cards, 'card')} can have "
            f"only {have}; lower the numbers in mig.instances",
            at.on_key(),
        )
        for need, have, what in sums
        if need > have
    ][:1]


def _lowered(one: _Slice, found: Sequence[_Slice], cards: int, family: MigFamily | None) -> str:
    """How far to lower the number of a profile, so that its instances fit beside the others."""
    others = [it for it in found if it is not one and it.count]
    if family is None or not others:
        return "lower the number of instances"
    every = [one, *others]
    counts = tuple(min(it.count, cards * it.per_card) for it in every)
    most = mig.most(mig.layouts(family, [it.profile for it in every]), counts, 0, cards)
    if most < 1:
        return "lower the number of instances"
    beside = listed([f"{it.count} × {it.profile}" for it in others], "and")
    return f"lower {one.profile} to {most}, which fit beside {beside}"


def _over_node(found: list[_Slice], cards: Cards, at: At) -> list[Hit]:
    """The error of an instance whose share of the pool's cpu and memory is more than a node has."""
    largest = max((it for it in found if it.count), key=lambda it: it.slices, default=None)
    whole = sum(it.count * it.slices for it in found) * cards.per_node
    if largest is None or largest.slices * cards.count <= whole:
        return []
    node = cards.node
    cpu = node.cpu_milli * cards.count * largest.slices // whole
    memory = node.memory_bytes * cards.count * largest.slices // whole
    return [
        Hit(
            SHARE_EXCEEDS_NODE,
            f"an instance of MIG profile {largest.profile} has a share of {amount_of(CPU, cpu)} and "
            f"{amount_of(MEMORY, memory)}, but a node has only {amount_of(CPU, node.cpu_milli, cpu)} "
            f"and {amount_of(MEMORY, node.memory_bytes, memory)}; write the number of instances of "
            "the whole pool, not of one card or node",
            at / largest.profile,
        )
    ]


def _placed(found: list[_Slice], cards: Cards, family: MigFamily | None, at: At) -> Iterator[Hit]:
    """Instances that have no placement on the slots of the cards, or that need few of the cards."""
    found = [it for it in found if it.count]
    if family is None or not found:
        return
    layouts = mig.layouts(family, [it.profile for it in found])
    counts = tuple(it.count for it in found)
    needed = mig.cards_needed(layouts, counts)
    if needed > cards.count:
        held = [mig.most(layouts, counts, place, cards.count) for place in range(len(found))]
        shared = "slots and media engines" if family.engines else "slots"
        message = f"the {shared} of {counted(cards.count, 'card')} cannot hold all MIG instances"
        yield _unplaced(message, found, held, needed, at)
    elif needed * 2 <= cards.count:
        groups, what = (
            (cards.count, "card") if needed == 1 else (cards.count // cards.per_node, "node")
        )
        advice = "raise the numbers, or lower the number of GPUs in capacity"
        if needed == 1 or (needed <= cards.per_node and groups > 1):
            numbers = ", ".join(f"{it.profile}: {it.count * groups}" for it in found)
            advice = f"if every {what} has these instances, write {numbers}"
        yield Hit(
            MIG_INSTANCES_FEW,
            f"mig.instances counts the instances of the whole pool, and these fit on {needed} of "
            f"its {cards.count} cards; {advice}",
            at.on_key(),
        )


def _unplaced(message: str, found: list[_Slice], held: Sequence[int], needed: int, at: At) -> Hit:
    """The error of instances without a placement.

    `held`: how many instances of each profile fit beside the others. The advice lowers the number
    of one profile, and loses the fewest compute slices.
    """
    lost = {
        place: (it.count - most) * it.slices
        for place, (it, most) in enumerate(zip(found, held, strict=True))
        if most > 0
    }
    if not lost:
        message += f"; lower the numbers in mig.instances, or use {needed} cards"
        return Hit(MIG_INSTANCES_EXCEED_CARDS, message, at.on_key())
    place = min(lost, key=lambda it: lost[it])
    near, most = found[place].profile, held[place]
    others = [f"{it.count} × {it.profile}" for it in found if it.profile != near]
    message += (
        f"; beside {listed(others, 'and')} they hold {most} × {near}; lower {near} to {most}, or "
        f"use {needed} cards"
    )
    return Hit(MIG_INSTANCES_EXCEED_CARDS, message, at / near)


def _uncut(pool: Pool, product: Product) -> Hit:
    able = [it.id for it in catalog.products().values() if it.mig]
    return Hit(
        MIG_NOT_POSSIBLE,
        f"{product.id} does not support MIG; to share a card, write sharing: timeSlicing or "
        "sharing: mps, with replicas (docs/hardware.md lists products with MIG, such as "
        f"{', '.join(able[:3])})",
        pool.at / "spec" / "gpu" / "sharing",
    )


def _unknown(
    profile: str,
    shape: re.Match[str] | None,
    product: Product | None,
    known: Mapping[str, MigProfile],
    at: At,
) -> Hit:
    advice = suggest(profile, known) if known else "write the profile as in 1g.10gb"
    if shape is not None and known:
        advice = f"did you mean {' or '.join(quoted(name) for name in _nearest(shape, known))}?"
    whose = f" on {product.id}" if product else ""
    return Hit(UNKNOWN_MIG_PROFILE, f"unknown MIG profile {quoted(profile)}{whose}; {advice}", at)


def _nearest(shape: re.Match[str], known: Mapping[str, MigProfile]) -> list[str]:
    """The profiles nearest in size to a profile of another card: by compute, then by memory."""
    shapes = [found for name in known if (found := _PROFILE.fullmatch(name))]
    similar = [it for it in shapes if it["extras"] == shape["extras"]]
    similar = similar or [it for it in shapes if not it["extras"]]

    def off(other: re.Match[str], what: str) -> int:
        return abs(int(other[what]) - int(shape[what]))

    compute = min(similar, key=lambda it: (off(it, "slices"), off(it, "gigabytes")))
    memory = min(similar, key=lambda it: (off(it, "gigabytes"), off(it, "slices")))
    return list(dict.fromkeys((compute[0], memory[0])))
