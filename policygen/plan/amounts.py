"""Vectors of resources: the amounts of a pool that a team may use, in exact integers.

Keys are resource names. `cpu` counts thousandths of a core, `memory` bytes, every other
name whole units of that resource.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache

from msgspec import Struct

from policygen.core import amounts, quantity

Vector = Mapping[str, int]

CPU = "cpu"
MEMORY = "memory"

HOST = (CPU, MEMORY)
"""The resources of a node other than its devices."""


def text(resource: str, amount: int) -> str:
    """An amount as a canonical Kubernetes quantity."""
    if resource == CPU:
        return quantity.from_cpu_milli(amount)
    if resource == MEMORY and amount % quantity.KIBIBYTE == 0:
        return quantity.from_memory_bytes(amount)
    # Bytes that are not a multiple of 1Ki cannot have a binary suffix, so they are written in decimal.
    return count(amount)


def amount_of(resource: str, amount: int, beside: int | None = None) -> str:
    """An amount for people: `98.6 TiB of memory`, `191.45 cores`, `8 nvidia.com/gpu`.

    `beside` is another amount in the same message. If rounding made the two look equal, the exact
    quantity is returned.
    """
    scale = 1000 if resource == CPU else 1
    other = None if beside is None else Fraction(beside, scale)
    return amounts.amount_of(resource, Fraction(amount, scale), other)


def at_most(resource: str, amount: int) -> str:
    """The largest amount of cpu or memory that a user may write, with the resource's name."""
    return amounts.at_most(resource, Fraction(amount, 1000 if resource == CPU else 1))


def readable_bytes(size: int, beside: int | None = None) -> str:
    """An amount of memory for people: `98.6 TiB`. `beside` as in `amount_of`."""
    return amounts.readable(MEMORY, Fraction(size), None if beside is None else Fraction(beside))


@lru_cache(maxsize=4096)
def count(number: int) -> str:
    """A number as a canonical quantity: 1000 is "1k".

    Kueue's webhook writes quantities in canonical form on create, so any other text would change
    the object each time it is applied.
    """
    return quantity.canonical(quantity.parse(number))


def less(first: Vector, second: Vector) -> dict[str, int]:
    """The first vector minus the second."""
    return {resource: amount - second.get(resource, 0) for resource, amount in first.items()}


def total(resources: Sequence[str], vectors: Sequence[Vector]) -> dict[str, int]:
    """The sum of vectors, for the given resources."""
    return {resource: sum(vector[resource] for vector in vectors) for resource in resources}


def part(amount: int, count: int, index: int, step: int = 1) -> int:
    """One of `count` equal parts of an amount, in multiples of `step`. The first ones get the rest."""
    units = amount // step
    return (units // count + (index < units % count)) * step


class Division(Struct, frozen=True):
    """Units that are divided by weight, and how the last division was done."""

    shares: tuple[int, ...]
    open: frozenset[int]
    """The entries whose share is by weight. The others are fixed at their floor or ceiling."""
    amount: int
    """What the open entries divide."""
    weight: int
    """The sum of their weights."""


def divide(
    amount: int, weights: Sequence[int], floors: Sequence[int], ceilings: Sequence[int]
) -> Division | None:
    """Divide whole units by weight between bounds, by largest remainder.

    Each share is at least its floor and at most its ceiling. Shares that reach a bound are fixed
    there, and the rest is divided again among the others. Ties in the remainder go to the earlier
    entry. The shares sum to `amount`, or to the sum of the ceilings if that is less. Returns None
    if the floors alone exceed `amount`.
    """
    if sum(floors) > amount:
        return None
    shares = list(floors)
    remaining = min(amount, sum(ceilings))
    entries = [entry for entry, weight in enumerate(weights) if weight]
    whole = sum(weights)
    while entries:
        # All ideals have the same denominator, `whole`, so comparing numerators is exact.
        ideal = {entry: remaining * weights[entry] for entry in entries}
        below = [entry for entry in entries if ideal[entry] < floors[entry] * whole]
        above = [entry for entry in entries if ideal[entry] > ceilings[entry] * whole]
        # An entry at its floor leaves less for the others, one at its ceiling leaves more.
        # Fixing only the side with the larger total converges.
        missing = sum(floors[entry] * whole - ideal[entry] for entry in below)
        excess = sum(ideal[entry] - ceilings[entry] * whole for entry in above)
        bounds, stopped = (floors, below) if missing >= excess else (ceilings, above)
        if not stopped:
            for entry in entries:
                shares[entry] = ideal[entry] // whole
            left = remaining - sum(shares[entry] for entry in entries)
            for entry in sorted(entries, key=lambda entry: (-(ideal[entry] % whole), entry))[:left]:
                shares[entry] += 1
            break
        for entry in stopped:
            shares[entry] = bounds[entry]
            remaining -= bounds[entry]
            whole -= weights[entry]
        gone = set(stopped)
        entries = [entry for entry in entries if entry not in gone]
    return Division(tuple(shares), frozenset(entries), remaining, whole)


def apportion(
    amount: int, weights: Sequence[int], floors: Sequence[int], ceilings: Sequence[int]
) -> list[int] | None:
    """The shares of `divide`."""
    division = divide(amount, weights, floors, ceilings)
    return None if division is None else list(division.shares)
