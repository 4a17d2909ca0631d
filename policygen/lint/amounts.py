"""How a message writes an amount of a resource."""

from fractions import Fraction

from policygen.lint.core_names import HUGE_PAGES
from policygen.quantity import Format, Quantity, canonical

BYTES = ("memory", "ephemeral-storage")
"""Resources that are counted in bytes."""


def shown(resource: str, amount: Fraction) -> str:
    """As a manifest would have it: `8`, `500m`, `64Gi`."""
    binary = resource in BYTES or resource.startswith(HUGE_PAGES)
    return canonical(Quantity(amount, Format.BINARY_SI if binary else Format.DECIMAL_SI))
