"""Amounts of a LimitRange that its API server refuses.

The order is min, defaultRequest, default, max. Defaults that cannot be overcommitted are equal.
Source: pkg/apis/core/validation/validation.go, ValidateLimitRange.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from policygen.core.amounts import BYTES, readable, written
from policygen.core.finding import At, Edit, Verb
from policygen.core.quantity import MEBIBYTE
from policygen.core.quoting import listed
from policygen.core.standard_resources import overcommitted
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.core import LimitRangeItem


def refused_ranges(cluster: Cluster) -> frozenset[At]:
    """The places of the LimitRanges that have such a fault; for `cluster.derive`."""
    return frozenset(
        entry.at
        for entry in cluster.limit_ranges
        if any(any(faults(item, entry.at)) for item in entry.fields.limits)
    )


def _equal(item: LimitRangeItem) -> dict[str, Fraction]:
    """The maxima that become defaults, of resources that cannot be overcommitted."""
    if item.type != "Container":
        return {}
    return {name: amount for name, amount in item.max.items() if not overcommitted(name)}


class LimitRangeFault(NamedTuple):
    """A refused amount."""

    message: str
    at: At
    meant: tuple[Edit, ...] = ()
    """The amounts in order, if one of two amounts is too high."""
    lacks_unit: bool = False
    """Whether an amount of memory has no unit, which is the reason."""


def faults(item: LimitRangeItem, at: At) -> Iterator[LimitRangeFault]:
    """The faults of an item at a place."""
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
        for i, ((low, less), (high, more)) in enumerate(pairwise(present)):
            defaults = (low, high) == ("defaultRequest", "default")
            if less > more:
                raised = listed([it for it, amount in present[i:] if amount < less], "and")
                place = at.to(low, name)
                yield LimitRangeFault(
                    f"{low} of {name} is {readable(name, less, more)}, above {high} {readable(name, more, less)}, which is refused; lower {low} or raise {raised}",
                    place,
                    (Edit(Verb.REWRITE, place, written(name, more)),),
                    lacks_unit=name in BYTES and 0 < more < MEBIBYTE,
                )
            elif defaults and less < more and not overcommitted(name):
                yield LimitRangeFault(
                    f"defaultRequest of {name} is below default, but {name} cannot be overcommitted; remove defaultRequest of {name}",
                    at.to("defaultRequest", name),
                )
    for name, ratio in item.max_limit_request_ratio.items():
        least, most = item.min.get(name), item.max.get(name)
        # A min above max is a fault of its own, and leaves no valid ratio.
        largest = most / least if least and most is not None and most >= least else None
        if ratio < 1 or (largest is not None and ratio > largest):
            advice = "1 or more" if largest is None else f"1 to {float(largest):g}"
            yield LimitRangeFault(
                f"maxLimitRequestRatio of {name} is {float(ratio):g}, which is refused; write {advice}",
                at.to("maxLimitRequestRatio", name),
            )
