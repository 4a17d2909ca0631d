"""A container asks for a GPU, or huge pages, in requests and not in limits."""

from collections.abc import Iterator

from policygen.core.finding import Edit, Hit, Verb
from policygen.core.rule import Severity
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core import containers
from policygen.lint.core.amounts import shown, written
from policygen.lint.core.standard_resources import known_to_containers, overcommitted
from policygen.lint.rule import Facts, Family, Fix, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """For what cannot be overcommitted the limit is a must, and must equal the request.

    Source: pkg/apis/core/validation/validation.go, ValidateContainerResourceRequirements.
    """
    for each in containers.containers(facts.cluster):
        limits = each.it.resources.limits
        for name, amount in each.it.resources.requests.items():
            if overcommitted(name) or limits.get(name) == amount:
                continue
            if not known_to_containers(name):
                continue  # container-resource-refused
            has = f"a limit of {shown(name, limits[name])}" if name in limits else "no limit"
            text = written(name, amount)
            limit = each.at.to("resources", "limits", name)
            edit = Edit(Verb.ADD, limit, int(text) if text.isdigit() else text)
            yield Hit(
                RULE,
                f"{each} requests {shown(name, amount)} {name} and has {has}, which is refused; "
                f"write limits: {{{name}: {text}}}, which is the request too",
                each.at.to("resources", "requests", name),
                edits=() if name in limits else (edit,),
            )


RULE = ObjectRule(
    "gpu-request-without-limit",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    judges=KINDS,
    check=check,
    stands=True,
    fix=Fix.SAFE,
)
