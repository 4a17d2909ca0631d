"""A container requests more than its limit, or has a negative amount."""

from policygen.core.amounts import amount_of, readable
from policygen.core.standard_resources import overcommitted
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core import containers
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """`gpu-request-without-limit` reports resources that cannot be overcommitted.

    Source: pkg/apis/core/validation/validation.go, ValidateContainerResourceRequirements.
    """
    known = containers.amounts(facts.cluster)
    negative = {*containers.having(facts.cluster, known, lambda it: it.numerator < 0)}
    for placed in containers.containers(facts.cluster):
        resources = placed.container.resources
        if placed in negative:
            yield from _negative(placed)
        for name, amount in resources.requests.items():
            limit = resources.limits.get(name)
            if limit is None or amount is limit or not overcommitted(name):
                continue
            if amount > limit >= 0:
                yield Hit(
                    RULE,
                    f"{placed} requests {amount_of(name, amount, limit)} with a limit of "
                    f"{readable(name, limit, amount)}, which is refused; request at most the limit",
                    placed.at.to("resources", "requests", name),
                    (placed.at.to("resources", "limits", name),),
                )


def _negative(placed: containers.PlacedContainer) -> Hits:
    resources = placed.container.resources
    for field, amounts in (("requests", resources.requests), ("limits", resources.limits)):
        for name, amount in amounts.items():
            if amount.numerator < 0:
                yield Hit(
                    RULE,
                    f"{placed} has {amount_of(name, amount)} in {field}, which is refused; "
                    "write 0 or more",
                    placed.at.to("resources", field, name),
                )


RULE = ObjectRule(
    "request-above-limit",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write a request of 0 or more and at most the limit.",
    judges=KINDS,
    check=check,
    may_exist=True,
)
