"""A container asks for more, or for less, than a LimitRange of its namespace allows."""

from collections.abc import Iterator
from fractions import Fraction

from policygen.cluster.core import LimitRangeItem
from policygen.cluster.workload import Container
from policygen.finding import Severity
from policygen.lint.amounts import shown
from policygen.lint.queued import KINDS
from policygen.lint.rule import Claim, Facts, Family, Rule


def check(facts: Facts) -> Iterator[Claim]:
    """The API server refuses the pods; Kueue finds the workload inadmissible before.

    Source: plugin/pkg/admission/limitranger; pkg/util/limitrange of Kueue.
    """
    ranges = facts.cluster.limit_ranges.by_namespace
    for workload in facts.cluster.workloads:
        for entry in ranges.get(workload.namespace, ()) if workload.namespace else ():
            items = [(i, it) for i, it in enumerate(entry.it.limits) if it.type == "Container"]
            for template in workload.templates:
                for j, container in enumerate(template.spec.containers):
                    for i, item in items:
                        for what, field, name in _faults(container, item):
                            yield Claim(
                                f"{workload} {what} of {entry}, so its pods are refused; keep "
                                "within it, or change the LimitRange",
                                template.at.to("spec", "containers", j, "resources"),
                                related=(entry.at.to("spec", "limits", i, field, name),),
                            )


def _faults(container: Container, item: LimitRangeItem) -> Iterator[tuple[str, str, str]]:
    requests, limits = container.resources.requests, container.resources.limits
    for name, most in item.max.items():
        amount = max(requests.get(name, Fraction(0)), limits.get(name, Fraction(0)))
        if amount > most:
            said = f"asks for {shown(name, amount)} {name}, above the maximum {shown(name, most)}"
            yield said, "max", name
    for name, most in item.filled_limits.items():
        amount = requests.get(name, Fraction(0))
        if name not in limits and name not in item.max and amount > most:
            said = (
                f"asks for {shown(name, amount)} {name} and sets no limit, so it gets the default "
                f"limit {shown(name, most)}"
            )
            yield said, "default", name
    for name, least in item.min.items():
        asked = requests.get(name, limits.get(name))
        if asked is not None and asked < least:
            said = f"asks for {shown(name, asked)} {name}, below the minimum {shown(name, least)}"
            yield said, "min", name


RULE = Rule(
    "limit-range-refuses-pods",
    Severity.ERROR,
    Family.INERT,
    judges=KINDS,
    check=check,
    reads=("LimitRange",),
)
