"""A ResourceQuota is used up, so the next pod or object is refused."""

from policygen.core import quantity
from policygen.core.amounts import readable
from policygen.kubernetes.accelerators import is_one
from policygen.kubernetes.untyped import keyed_texts
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Checks GPUs and counts of objects.

    Source: status.used of core/v1 ResourceQuota.
    """
    for quota in facts.cluster.resource_quotas:
        used = keyed_texts(quota.object.data, "status", "used")
        for key, hard in quota.fields.hard.items():
            text = used.get(key)
            if text is None or not _is_checked(key):
                continue
            try:
                taken = quantity.parse(text).value
            except ValueError:
                continue
            if taken >= hard > 0:
                yield Hit(
                    RULE,
                    f"{quota} is used up: {readable(key, taken)} of {readable(key, hard)} {key}, so the "
                    "API server refuses the next pod or object; raise the quota, or wait until other pods finish",
                    quota.at.to("spec", "hard", key),
                )


def _is_checked(key: str) -> bool:
    return key == "pods" or key.startswith("count/") or is_one(key.removeprefix("requests."))


RULE = ObjectRule(
    "quota-used-up",
    Severity.INFO,
    Family.INERT,
    __doc__,
    remedy="Raise the quota, or wait until other pods finish.",
    judges=("ResourceQuota",),
    check=check,
    needs=frozenset({Need.SEEN}),
)
