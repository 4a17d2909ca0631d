"""A container has a fraction of a GPU."""

from policygen.core.standard_resources import whole
from policygen.kubernetes import accelerators
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core import containers
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Source: pkg/apis/core/helper/helpers.go, IsExtendedResourceName; validation.go."""
    for placed in containers.containers(facts.cluster):
        for name, amount in placed.container.resources.limits.items():
            if accelerators.is_one(name) and whole(name) and amount.denominator != 1:
                yield Hit(
                    RULE,
                    f"{placed} requests {float(amount):g} {name}, which is refused; write an integer, "
                    "and share GPUs by MIG or time-slicing",
                    placed.at.to("resources", "limits", name),
                )


RULE = ObjectRule(
    "gpu-amount-fractional",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write an integer, and share GPUs by MIG or time-slicing.",
    judges=KINDS,
    check=check,
    may_exist=True,
    aliases=("part-of-a-gpu",),
)
