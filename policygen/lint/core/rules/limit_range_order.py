"""A LimitRange's minimum, defaults and maximum are not in ascending order."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

from policygen.core.finding import At, Hit
from policygen.core.rule import Severity
from policygen.kubernetes.core import LimitRangeItem
from policygen.lint.core.amounts import shown
from policygen.lint.core.standard_resources import overcommitted
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """In this order: min, defaultRequest, default, max. Where nothing is overcommitted they agree.

    Source: pkg/apis/core/validation/validation.go, ValidateLimitRange.
    """
    for entry in facts.cluster.limit_ranges:
        for i, item in enumerate(entry.it.limits):
            at = entry.at.to("spec", "limits", i)
            for message, place in _item(item, at):
                yield Hit(RULE, f"{entry}: {message}", place)


def _equal(item: LimitRangeItem) -> dict[str, Fraction]:
    """The defaults that maxima are, of what asks for as much as it may use."""
    if item.type != "Container":
        return {}
    return {name: amount for name, amount in item.max.items() if not overcommitted(name)}


def _item(item: LimitRangeItem, at: At) -> Iterator[tuple[str, At]]:
    fields = {"min": item.min, "max": item.max}
    if item.type != "Pod":
        fields = {
            "min": item.min,
            "defaultRequest": item.default_request,
            "default": {**_equal(item), **item.default},
            "max": item.max,
        }
    names = sorted({name for amounts in fields.values() for name in amounts})
    for name in names:
        has = [(field, amounts[name]) for field, amounts in fields.items() if name in amounts]
        for (low, less), (high, more) in pairwise(has):
            defaults = (low, high) == ("defaultRequest", "default")
            if less > more:
                said = f"{low} of {name} is {shown(name, less)} and {high} {shown(name, more)}"
                yield (
                    f"{said}, which is refused; lower the one, or raise the other",
                    at.to(low, name),
                )
            elif defaults and less < more and not overcommitted(name):
                said = f"{name} cannot be overcommitted, and defaultRequest of it is below default"
                yield f"{said}, which is refused; remove it", at.to("defaultRequest", name)
    for name, ratio in item.max_limit_request_ratio.items():
        least, most = item.min.get(name), item.max.get(name)
        if ratio < 1 or (least and most is not None and ratio > most / least):
            said = (
                f"maxLimitRequestRatio of {name} is {float(ratio):g}, below 1 or above max by min"
            )
            yield (
                f"{said}, which is refused; write one between",
                at.to("maxLimitRequestRatio", name),
            )


RULE = ObjectRule(
    "limit-range-order",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    judges=("LimitRange",),
    check=check,
)
