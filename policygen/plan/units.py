"""The units in which a pool's cards are counted: complete cards, shared ones, or MIG instances."""

import re
from collections.abc import Mapping

from msgspec import Struct

from policygen.core.finding import At, Hit
from policygen.core.names import GPU
from policygen.core.quoting import counted, quoted
from policygen.core.suggest import suggest
from policygen.hardware import catalog
from policygen.hardware.catalog import MigProfile, Product
from policygen.plan.rules import MIG_INSTANCES_EXCEED_CARDS, MIG_NOT_POSSIBLE, UNKNOWN_MIG_PROFILE
from policygen.spec.pools import SHARED_PER_GPU
from policygen.spec.types import WHOLE, Pool

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


def units(
    pool: Pool, cards: int, per_node: int, product: Product | None, hits: list[Hit]
) -> Units | None:
    """The units of a number of cards, `per_node` on each node; None if they cannot be counted."""
    gpu = pool.gpu
    if gpu.sharing == "mig":
        return _mig(pool, cards, per_node, product, hits)
    resource = gpu.resource or GPU
    replicas = gpu.replicas if gpu.sharing in SHARED_PER_GPU else 1
    return Units(
        resources=(resource,),
        profiles=(WHOLE,),
        available={resource: cards * replicas},
        slices={resource: 1},
        per_node=per_node * replicas,
    )


class _Slice(Struct, frozen=True):
    """The instances of one MIG profile in a pool."""

    profile: str
    count: int
    resource: str
    slices: int
    per_card: int
    facts: MigProfile | None


def _mig(
    pool: Pool, cards: int, per_node: int, product: Product | None, hits: list[Hit]
) -> Units | None:
    known = catalog.mig_profiles(product) if product else {}
    if product and not known:
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
        if count > cards * per_card:
            hits.append(
                Hit(
                    MIG_INSTANCES_EXCEED_CARDS,
                    f"mig.instances has {count} instances of MIG profile {profile}, but "
                    f"{counted(cards, 'card')} can have only {cards * per_card}; lower the number of instances",
                    at / profile,
                )
            )
    if not found or len(found) < len(pool.gpu.instances):
        return None
    found.sort(key=lambda it: (it.slices, it.resource))
    _fill(found, cards, known, at, hits)
    mixed = pool.gpu.mig_strategy == "mixed"
    return Units(
        resources=tuple(it.resource for it in found),
        profiles=tuple(it.profile if mixed else WHOLE for it in found),
        available={it.resource: it.count for it in found},
        slices={it.resource: it.slices for it in found},
        per_node=max(min(it.count, per_node * it.per_card) for it in found),
        cut=tuple(it.facts for it in found if it.facts),
    )


def _resource(pool: Pool, profile: str, facts: MigProfile | None) -> str:
    """The resource name that the device plugin gives to instances of a profile."""
    resource = pool.gpu.resource or GPU
    if pool.gpu.mig_strategy == "single":
        return resource
    suffix = facts.resource_suffix if facts else f"mig-{profile.replace('+', '.')}"
    return f"{resource.partition('/')[0]}/{suffix}"


def _fill(
    found: list[_Slice], cards: int, known: Mapping[str, MigProfile], at: At, hits: list[Hit]
) -> None:
    """Warn if all instances together do not fit on the cards."""
    used = sum(it.count * it.slices for it in found)
    held = sum(it.count * it.facts.memory_slices for it in found if it.facts)
    compute = max((facts.compute_slices for facts in known.values()), default=_SLICES)
    memory = max((facts.memory_slices for facts in known.values()), default=0)
    for need, have, what in ((used, cards * compute, "compute"), (held, cards * memory, "memory")):
        if need > have:
            hits.append(
                Hit(
                    MIG_INSTANCES_EXCEED_CARDS,
                    f"the MIG instances need {need} {what} slices, but {counted(cards, 'card')} "
                    f"can have only {have}; lower the numbers in mig.instances",
                    at.on_key(),
                )
            )


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
