"""Amounts in the units in which Kueue counts them: cpu in thousandths, everything else in whole units.

Source: pkg/resources/{amount,resource_formatter,slice_requests}.go of Kueue 0.19.2.
"""

import math
from fractions import Fraction
from functools import cache, lru_cache

from policygen.core.quantity import Format, Quantity, canonical

UNLIMITED = 2**63 - 1
"""A quota at or above this amount is no limit."""
_OFFSET, _PRIME, _MASK = 0xCBF29CE484222325, 0x100000001B3, 2**64 - 1


def counted(resource: str, amount: Fraction) -> int:
    """An amount of a resource in Kueue's unit, rounded up."""
    return min(math.ceil(amount * 1000 if resource == "cpu" else amount), UNLIMITED)


@lru_cache(4096)
def shown(resource: str, amount: int) -> str:
    """An amount as Kueue's messages write it."""
    if amount >= UNLIMITED:
        return "<unlimited>"
    if resource == "cpu":
        return canonical(Quantity(Fraction(amount, 1000), Format.DECIMAL_SI))
    binary = resource in ("memory", "ephemeral-storage") or resource.startswith("hugepages-")
    form = Format.BINARY_SI if binary else Format.DECIMAL_SI
    return canonical(Quantity(Fraction(amount), form))


@cache
def evaluation_order(resource: str) -> tuple[int, str]:
    """Sorts resources as Kueue evaluates them: by the FNV-1a hash of the name, with 64 bits."""
    value = _OFFSET
    for byte in resource.encode():
        value = (value ^ byte) * _PRIME & _MASK
    return value, resource
