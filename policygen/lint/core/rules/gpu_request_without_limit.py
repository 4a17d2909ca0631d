"""A container requests a GPU or huge pages without an equal limit."""

from fractions import Fraction

from policygen.core.amounts import amount_of, readable, written
from policygen.core.standard_resources import known_to_containers, overcommitted
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core import containers
from policygen.lint.rule import Edit, Facts, Family, Fix, Hit, Hits, ObjectRule, Severity, Verb


def check(facts: Facts) -> Hits:
    """A resource that cannot be overcommitted needs a limit that equals the request.

    Source: pkg/apis/core/validation/validation.go, ValidateContainerResourceRequirements.
    """
    known = containers.amounts(facts.cluster)
    scarce = {name for name in known if not overcommitted(name)}
    for placed in containers.containers(facts.cluster):
        if scarce.isdisjoint(placed.container.resources.requests):
            continue
        limits = placed.container.resources.limits
        for name, amount in containers.without_equal_limit(placed.container):
            if not known_to_containers(name):
                continue  # `container-resource-refused` reports it
            text = written(name, amount)
            remedy = f"write limits: {{{name}: {text}}}, which also sets the request"
            message = f"{placed} requests {amount_of(name, amount)} without a limit, which is refused; {remedy}"
            if name in limits:
                if _is_power_of_two(limits[name]) and not _is_power_of_two(amount):
                    remedy = "remove the request, so that the limit is also the request"
                message = (
                    f"{placed} requests {amount_of(name, amount, limits[name])} but has a limit of "
                    f"{readable(name, limits[name], amount)}, which is refused; {remedy}"
                )
            limit = placed.at.to("resources", "limits", name)
            edit = Edit(Verb.ADD, limit, int(text) if text.isdigit() else text)
            yield Hit(
                RULE,
                message,
                placed.at.to("resources", "requests", name),
                edits=() if name in limits else (edit,),
            )


def _is_power_of_two(amount: Fraction) -> bool:
    """Pods with another number of GPUs usually leave GPUs of a node unused."""
    return amount > 0 and amount.denominator == 1 and amount.numerator.bit_count() == 1


RULE = ObjectRule(
    "gpu-request-without-limit",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write the amount under limits only; Kubernetes then uses the limit as the request too.",
    judges=KINDS,
    check=check,
    may_exist=True,
    fix=Fix.SAFE,
)
