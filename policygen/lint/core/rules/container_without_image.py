"""A container names no image, which the API server refuses."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.containers import containers
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """The schema does not ask for it, the code does; of operators' kinds the pods are refused.

    Source: pkg/apis/core/validation/validation.go, validateContainerCommon.
    """
    for each in containers(facts.cluster):
        if not each.it.image:
            yield Hit(RULE, f"{each} has no image, which is refused; write one", each.at)


RULE = ObjectRule(
    "container-without-image",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    judges=KINDS,
    check=check,
    stands=True,
)
