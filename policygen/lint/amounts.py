"""How a message writes an amount of a resource."""

from fractions import Fraction

from policygen.quantity import Format, Quantity, canonical

_BYTES = ("memory", "ephemeral-storage")


def shown(resource: str, amount: Fraction) -> str:
    """As a manifest would have it: `8`, `500m`, `64Gi`."""
    binary = resource in _BYTES or resource.startswith("hugepages-")
    return canonical(Quantity(amount, Format.BINARY_SI if binary else Format.DECIMAL_SI))
