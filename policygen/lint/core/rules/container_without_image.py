"""A container has no image."""

from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.containers import containers
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """The server's code requires it, its schema does not. For operators' kinds it refuses the pods.

    Source: pkg/apis/core/validation/validation.go, validateContainerCommon.
    """
    for placed in containers(facts.cluster):
        if not placed.container.image:
            yield Hit(RULE, f"{placed} has no image, which is refused; write its image", placed.at)


RULE = ObjectRule(
    "container-without-image",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write the image of the container.",
    judges=KINDS,
    check=check,
    may_exist=True,
)
