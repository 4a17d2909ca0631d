"""How a message writes an amount of a resource."""

from fractions import Fraction

from policygen.core.quantity import Format, Quantity, canonical, compared
from policygen.lint.core.standard_resources import HUGE_PAGES

BYTES = ("memory", "ephemeral-storage")
"""Resources that are counted in bytes."""


_READABLE = 5
"""Digits that a reader takes in."""


def shown(resource: str, amount: Fraction) -> str:
    """As a manifest would have it: `8`, `500m`, `64Gi`; with many digits also as people say it.

    `263930288Ki (251.704Gi)`.
    """
    text = written(resource, amount)
    if sum(it.isdigit() for it in text) <= _READABLE:
        return text
    (said,) = compared([amount], binary=_is_binary(resource))
    return text if said == text else f"{text} ({said})"


def written(resource: str, amount: Fraction) -> str:
    """Exactly, as a manifest would have it."""
    form = Format.BINARY_SI if _is_binary(resource) else Format.DECIMAL_SI
    return canonical(Quantity(amount, form))


def _is_binary(resource: str) -> bool:
    return resource in BYTES or resource.startswith(HUGE_PAGES)
