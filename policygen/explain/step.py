"""One line of the arithmetic behind a value, with the place in the spec that it comes from."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from policygen.core.finding import At
from policygen.core.quantity import MEBIBYTE
from policygen.plan.amounts import CPU, MEMORY, count
from policygen.spec.types import Platform


class Step(Struct, frozen=True):
    """A value that was read, or was computed from the values of earlier steps."""

    name: str
    """What it is: `guarantee of team nlp`."""
    value: str
    """Cpu in thousandths of a core (`500m`), memory in `Mi` if it is a multiple of it."""
    formula: str = ""
    """The arithmetic: `64 - 24 - 16`; empty if the value was read. `floor` is to 1m of cpu, and 1Mi."""
    at: At | None = None
    """The place in the spec of a value that was read."""
    note: str = ""
    """Where a value comes from that is not in the spec, or how a formula is meant."""


Steps = list[Step]
"""The last step has the value that is explained."""

_SHOWN: Final = 12
"""Operands of a sum that are written; more are added up."""


def exact(resource: str, amount: int) -> str:
    """An amount as a step writes it: one unit for each resource, so that formulas can be checked."""
    if resource == CPU:
        return f"{amount}m"
    if resource == MEMORY and amount % MEBIBYTE == 0:
        return f"{amount // MEBIBYTE}Mi"
    return str(amount)


def minus(resource: str, first: int, others: Sequence[int]) -> str:
    """A formula that subtracts amounts; many are one sum."""
    if len(others) > _SHOWN:
        others = [sum(others)]
    return " - ".join(exact(resource, it) for it in (first, *others))


def plus(resource: str, amounts: Sequence[int]) -> str:
    """A formula that adds amounts."""
    if len(amounts) > _SHOWN:
        amounts = [sum(amounts[:-1]), amounts[-1]]
    return " + ".join(exact(resource, it) for it in amounts)


def of_platform(platform: Platform, name: str, value: str, *path: str) -> Step:
    """A value that is read from a field of the Platform, or is its default."""
    if platform.at is None:
        return Step(name, value, note="default: the spec has no Platform")
    return Step(name, value, at=platform.at.to(*path))


def number(value: int) -> str:
    """A plain number as a canonical quantity."""
    return count(value)


def joined(*parts: Sequence[Step]) -> Steps:
    """Several derivations, one after the other, each step once."""
    return list(dict.fromkeys(step for part in parts for step in part))
