"""Amounts and names in sentences about workloads."""

from collections.abc import Sequence
from fractions import Fraction

from policygen.core import amounts
from policygen.core.quoting import counted, some
from policygen.kubernetes.core import TaintView, TolerationView


def amount(resource: str, count: int) -> str:
    """An amount for people: `16 GPUs`, `12 cores`, `64 GiB of memory`."""
    return amounts.with_gpus(
        resource, Fraction(count, 1000) if resource == "cpu" else Fraction(count)
    )


def bare_amount(resource: str, count: int) -> str:
    """An amount without the name of the resource: `10`, `12 cores`."""
    return amounts.readable(
        resource, Fraction(count, 1000) if resource == "cpu" else Fraction(count)
    )


def gpus(count: int, unit: str) -> str:
    """A number of GPUs in a table: `8`, or `8 MIG instances` of other units."""
    return f"{count}" if unit == "GPU" else counted(count, unit)


def are(amount_: str) -> str:
    """The amount with a verb: `1 is`, `10 are`, `1 GiB is`."""
    return f"{amount_} {'is' if amount_.split(maxsplit=1)[0] == '1' else 'are'}"


def names(found: Sequence[str], most: int = 3) -> str:
    """Names in a sentence: `a, b and 3 others`."""
    return some(found, "other", most) if found else ""


def taint_text(it: TaintView | TolerationView) -> str:
    """A taint as kubectl writes it: `key=value:NoSchedule`."""
    return f"{it.key}{f'={it.value}' if it.value else ''}:{it.effect}"
