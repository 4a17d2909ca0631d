"""Amounts of resources in messages: for people to read, or as a manifest writes them."""

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction

from policygen.core.quantity import Format, Quantity, canonical
from policygen.core.quoting import counted, listed

BYTES = ("memory", "ephemeral-storage")
"""Resources that are counted in bytes."""

HUGE_PAGES = "hugepages-"
"""Prefix of the names of huge pages; their size follows."""

_CPU = "cpu"
_STORAGE = "storage"
_UNITS = ("byte", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
"""Each is 1024 times the one before."""
_STEP = 1024
_NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?")
_SMALL = 10
"""A rounded amount of bytes below this has one decimal more: 2.93 GiB, 98.6 TiB."""
_EXACT_DIGITS = 3
"""Decimals up to which a number is written exactly."""
_DIGITS = 2
"""Decimals of a rounded number; bytes from `_SMALL` on have one less."""


def readable(resource: str, amount: Fraction, beside: Fraction | None = None) -> str:
    """An amount for people, without the resource's name: `98.6 TiB`, `2.93 GiB`, `191.45 cores`, `8`.

    `beside` is another amount in the same message. If rounding made the two look equal, the exact
    quantity is returned.
    """
    text = _rounded(resource, amount)
    if beside is not None and beside != amount and text == _rounded(resource, beside):
        return written(resource, amount)
    return text


def exceeds(amount: Fraction, limit: Fraction, times: int = 1) -> bool:
    """Whether this many times an amount is above a limit. Integers are compared faster than Fractions."""
    return times * amount.numerator * limit.denominator > limit.numerator * amount.denominator


def summed(amounts: Iterable[Fraction]) -> Fraction:
    """The sum of amounts. Integers are added faster than Fractions."""
    whole, parts = 0, Fraction(0)
    for it in amounts:
        if it.denominator == 1:
            whole += it.numerator
        else:
            parts += it
    return parts + whole


def amount_of(resource: str, amount: Fraction, beside: Fraction | None = None) -> str:
    """An amount for people, with the resource's name: `98.6 TiB of memory`, `8 nvidia.com/gpu`.

    Cores are not named: `191.45 cores`. `beside` as in `readable`.
    """
    text = readable(resource, amount, beside)
    if resource == _CPU and text.endswith(("core", "cores")):
        return text
    return f"{text} of {resource}" if _is_binary(resource) else f"{text} {resource}"


def sums(found: Iterable[tuple[str, Fraction, Fraction]]) -> tuple[str, str]:
    """The totals of resources as a list, and what there is of each, from names, totals and what there is."""
    found = tuple(found)
    totals = [amount_of(resource, total, have) for resource, total, have in found]
    return listed(totals, "and"), listed([readable(it, have, of) for it, of, have in found], "and")


def at_most(resource: str, amount: Fraction) -> str:
    """The largest amount that a user may write, with the resource's name; rounded down if it is rounded.

    `191.45 cores`, `1130891Mi of memory`: 1.08 TiB would be more.
    """
    number, _, unit = _rounded(resource, amount).partition(" ")
    size = _STEP ** _UNITS.index(unit) if unit in _UNITS else 1
    if _NUMBER.fullmatch(number) and Fraction(number) * size == amount:
        return amount_of(resource, amount)
    step = Fraction(1 << 20) if _is_binary(resource) and amount >= 1 << 20 else Fraction(1, 1000)
    return f"{written(resource, amount // step * step)} of {resource}"


def with_gpus(resource: str, amount: Fraction) -> str:
    """The same, with `16 GPUs` instead of `16 nvidia.com/gpu`."""
    if resource.endswith("/gpu"):
        return counted(readable(resource, amount), "GPU")
    return amount_of(resource, amount)


def total(parts: Iterable[Mapping[str, Fraction]]) -> dict[str, Fraction]:
    """The sum of amounts by resource."""
    found: dict[str, Fraction] = {}
    for amounts in parts:
        for name, amount in amounts.items():
            found[name] = found.get(name, Fraction(0)) + amount
    return found


def written(resource: str, amount: Fraction) -> str:
    """The exact amount as a canonical Kubernetes quantity."""
    form = Format.BINARY_SI if _is_binary(resource) else Format.DECIMAL_SI
    return canonical(Quantity(amount, form))


def without_milli(amount: Fraction) -> Fraction | None:
    """The amount as it is written without the unit m; None if that is not an integer."""
    number = amount * 1000
    return number if number.denominator == 1 else None


def has_unit(resource: str) -> bool:
    """Whether amounts of the resource are in cores or bytes; others are numbers without a unit."""
    name = _counted(resource)
    return name == _CPU or _is_binary(name)


def _counted(resource: str) -> str:
    """The resource that a key of a ResourceQuota limits: memory for requests.memory."""
    return resource.removeprefix("requests.").removeprefix("limits.")


def _rounded(resource: str, amount: Fraction) -> str:
    resource = _counted(resource)
    if resource == _CPU:
        return counted(_decimal(amount), "core")
    if not _is_binary(resource):
        return _decimal(amount)
    units = iter(_UNITS)
    unit, size = next(units), Fraction(1)
    while abs(amount) >= size * _STEP and unit != _UNITS[-1]:
        unit, size = next(units), size * _STEP
    number = amount / size
    text = _decimal(number, _DIGITS if abs(number) < _SMALL else _DIGITS - 1)
    return counted(text, unit) if unit == _UNITS[0] else f"{text} {unit}"


def _decimal(number: Fraction, digits: int = _DIGITS) -> str:
    """A number with at most three decimals if it is exact, else rounded to `digits`."""
    scaled = number * 10**_EXACT_DIGITS
    digits = _EXACT_DIGITS if scaled.denominator == 1 else digits
    rounded = round(number * 10**digits)
    if number and not rounded:  # rounding would make it 0
        return canonical(Quantity(number, Format.DECIMAL_SI))
    return f"{Decimal(rounded).scaleb(-digits).normalize():f}"


def _is_binary(resource: str) -> bool:
    return resource in (*BYTES, _STORAGE) or resource.startswith(HUGE_PAGES)
