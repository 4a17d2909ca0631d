"""The min, defaults and max of a LimitRange are not in ascending order."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

from policygen.core.amounts import readable
from policygen.core.finding import At
from policygen.core.standard_resources import overcommitted
from policygen.kubernetes.core import LimitRangeItem
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """The order is min, defaultRequest, default, max. Defaults that cannot be overcommitted are equal.

    Source: pkg/apis/core/validation/validation.go, ValidateLimitRange.
    """
    for entry in facts.cluster.limit_ranges:
        for i, item in enumerate(entry.fields.limits):
            at = entry.at.to("spec", "limits", i)
            for message, place in _item(item, at):
                yield Hit(RULE, f"{entry}: {message}", place)


def _equal(item: LimitRangeItem) -> dict[str, Fraction]:
    """The maxima that become defaults, of resources that cannot be overcommitted."""
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
        present = [(field, amounts[name]) for field, amounts in fields.items() if name in amounts]
        for (low, less), (high, more) in pairwise(present):
            defaults = (low, high) == ("defaultRequest", "default")
            if less > more:
                yield (
                    f"{low} of {name} is {readable(name, less, more)}, above {high} {readable(name, more, less)}, which is refused; lower {low} or raise {high}",
                    at.to(low, name),
                )
            elif defaults and less < more and not overcommitted(name):
                yield (
                    f"defaultRequest of {name} is below default, but {name} cannot be overcommitted; remove defaultRequest of {name}",
                    at.to("defaultRequest", name),
                )
    for name, ratio in item.max_limit_request_ratio.items():
        least, most = item.min.get(name), item.max.get(name)
        if ratio < 1 or (least and most is not None and ratio > most / least):
            yield (
                f"maxLimitRequestRatio of {name} is {float(ratio):g}, which is refused; write 1 to {float(most / least):g}"
                if least and most is not None
                else f"maxLimitRequestRatio of {name} is {float(ratio):g}, which is refused; write 1 or more",
                at.to("maxLimitRequestRatio", name),
            )


RULE = ObjectRule(
    "limit-range-amount-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write min, defaultRequest, default and max in ascending order.",
    judges=("LimitRange",),
    check=check,
    aliases=("limit-range-order",),
)
