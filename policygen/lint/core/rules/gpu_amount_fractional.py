"""A quota or container has a fraction of a GPU."""

from policygen.kubernetes.workloads import KINDS
from policygen.lint.core import accelerators, containers
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Containers are refused; a quota under `requests.` is accepted, but counts integers.

    Source: pkg/apis/core/helper/helpers.go, IsExtendedResourceName; validation.go.
    """
    for quota in facts.cluster.resource_quotas:
        for name, amount in quota.fields.hard.items():
            bare = name.removeprefix("requests.")
            if bare != name and accelerators.is_one(bare) and amount.denominator != 1:
                yield Hit(
                    RULE,
                    f"{quota} allows {float(amount):g} {bare}, but pods request integers, so the "
                    f"quota allows only {int(amount)}; write an integer",
                    quota.at.to("spec", "hard", name),
                )
    for placed in containers.containers(facts.cluster):
        for name, amount in placed.container.resources.limits.items():
            if accelerators.is_one(name) and amount.denominator != 1:
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
    judges=("ResourceQuota", *KINDS),
    check=check,
    may_exist=True,
    aliases=("part-of-a-gpu",),
)
