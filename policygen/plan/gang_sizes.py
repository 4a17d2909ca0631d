"""The gang sizes with which a model fits bounds, to propose a size that works."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from policygen.hardware import sizing
from policygen.plan import fit
from policygen.plan.amounts import Vector, readable_bytes
from policygen.plan.assignment import Assignment
from policygen.plan.fit import Replica
from policygen.plan.pool import PoolFacts
from policygen.plan.replicas import counted_resources, replicas
from policygen.spec.types import Gang, Model

_LARGEST = 64
"""The largest size that is tried."""


def fitting(chosen: Assignment, bounds: Sequence[Vector]) -> tuple[int, int] | None:
    """The size nearest to the stated one that bounds hold, and the units of a gang; None if there is none."""
    gang = chosen.model.gang
    if gang is None:
        return None
    offer = fit.offers(chosen.pools)[chosen.facts.name]
    found = []
    for size, replica in _replicas(chosen):
        needs = replica.size(offer)
        if needs is not None and needs.resource == chosen.size.resource:
            made = replicas(replica.model, needs)
            if made.pieces(bounds, counted_resources(chosen.facts)) >= made.least:
                found.append((size, made.piece[needs.resource]))
    return min(found, key=lambda it: (abs(it[0] - gang.size), it[1]), default=None)


def smallest(model: Model, pools: Iterable[PoolFacts], limits: Mapping[str, Vector]) -> int | None:
    """The smallest number of pods, at least 2, over which a model can be divided to fit; None if unknown.

    `limits`: the limits of its team by pool, which must hold the gang too.
    """
    starting = [it for it in pools if it.starts_gangs]
    offers, known = fit.offers(starting), fit.Sizes()
    gang = model.gang or Gang(1)
    for count in range(max(gang.size + 1, 2), _LARGEST + 1):
        divided = Replica(replace(model, gang=replace(gang, size=count)), known)
        for facts in starting:
            size = divided.size(offers[facts.name])
            if size is None:
                continue
            needs = replicas(divided.model, size)
            bound = limits.get(facts.name)
            if bound is None or needs.pieces([bound], counted_resources(facts)) >= needs.least:
                return count
    return None


def least_memory(chosen: Assignment, units: int) -> str:
    """Why no size fits some units: `it needs 6.6 TiB of GPU memory, the limit has 1.2 TiB`; empty if unknown."""
    card = chosen.facts.memory_bytes
    needs = [
        size * need
        for size, it in _replicas(chosen)
        if it.workload is not None and (need := sizing.needed_bytes(it.workload)) is not None
    ]
    if card is None or chosen.facts.pool.gpu.sharing != "none" or not needs:
        return ""
    least, has = min(needs), units * card
    if least <= has:
        return ""
    return (
        f"it needs {readable_bytes(least, has)} of GPU memory, and the limit has "
        f"{readable_bytes(has, least)}"
    )


def _replicas(chosen: Assignment) -> Iterator[tuple[int, Replica]]:
    """One pod of the gang for each size."""
    model = chosen.model
    known: fit.Sizes = {}
    if model.gang is not None:
        for size in range(1, max(_LARGEST, model.gang.size) + 1):
            yield size, Replica(replace(model, gang=replace(model.gang, size=size)), known)
