"""Vectors of resources: what a team may have of a pool, in exact integers.

Keys are resource names. `cpu` counts thousandths of a core, `memory` bytes, every other
name whole units of that resource.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from policygen.core import quantity

Vector = Mapping[str, int]

CPU = "cpu"
MEMORY = "memory"

HOST = (CPU, MEMORY)
"""What a node has beside its devices."""


def text(resource: str, amount: int) -> str:
    """An amount as a canonical Kubernetes quantity."""
    if resource == CPU:
        return quantity.from_cpu_milli(amount)
    if resource == MEMORY and amount % quantity.KIBIBYTE == 0:
        return quantity.from_memory_bytes(amount)
    # Also bytes that no binary suffix fits: without one they are read as decimal again.
    return count(amount)


@lru_cache(maxsize=4096)
def count(number: int) -> str:
    """A number as a canonical quantity: 1000 is "1k".

    Kueue's webhook writes quantities anew on create, so another text would change an object
    each time that it is applied.
    """
    return quantity.canonical(quantity.parse(number))


def less(first: Vector, second: Vector) -> dict[str, int]:
    """What is left of the first after the second."""
    return {resource: amount - second.get(resource, 0) for resource, amount in first.items()}


def total(resources: Sequence[str], vectors: Sequence[Vector]) -> dict[str, int]:
    """The sum over vectors, for the given resources."""
    return {resource: sum(vector[resource] for vector in vectors) for resource in resources}


def apportion(
    amount: int, weights: Sequence[int], floors: Sequence[int], ceilings: Sequence[int]
) -> list[int] | None:
    """Share whole units out by weight between bounds, by largest remainder.

    Each share is at least its floor and at most its ceiling; shares that a bound stops are
    fixed there and the rest is shared again among the others. Ties in the remainder go to
    the earlier entry. The shares sum to `amount`, or to the sum of the ceilings where that
    is less. None: the floors alone are more than `amount`.
    """
    if sum(floors) > amount:
        return None
    shares = list(floors)
    remaining = min(amount, sum(ceilings))
    entries = [entry for entry, weight in enumerate(weights) if weight]
    whole = sum(weights)
    while entries:
        # All ideals share one denominator, `whole`; the numerators decide, exactly.
        ideal = {entry: remaining * weights[entry] for entry in entries}
        below = [entry for entry in entries if ideal[entry] < floors[entry] * whole]
        above = [entry for entry in entries if ideal[entry] > ceilings[entry] * whole]
        # An entry held up by its floor leaves less for the others, one held down by its
        # ceiling leaves more. Fixing only the side that weighs more converges.
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
    return shares
