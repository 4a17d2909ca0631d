"""A ResourceQuota has a fraction of a GPU, which is rounded down to an integer."""

from policygen.core.amounts import without_milli
from policygen.kubernetes import accelerators
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity, written


def check(facts: Facts) -> Hits:
    """The server accepts the quota, but pods request integers.

    Source: pkg/apis/core/helper/helpers.go, IsExtendedResourceName, which a name under `requests.` is not.
    """
    for quota in facts.cluster.resource_quotas:
        for name, amount in quota.fields.hard.items():
            bare = name.removeprefix("requests.")
            if bare != name and accelerators.is_one(bare) and amount.denominator != 1:
                meant, at = without_milli(amount), quota.at.to("spec", "hard", name)
                yield Hit(
                    RULE,
                    f"{quota} allows {float(amount):g} {bare}, but pods request integers, so the "
                    f"quota allows only {int(amount)}; write an integer",
                    at,
                    meant=written(at, "" if meant is None else f"{meant}"),
                )


RULE = ObjectRule(
    "gpu-quota-fractional",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Write an integer, and share GPUs by MIG or time-slicing.",
    judges=("ResourceQuota",),
    check=check,
)
