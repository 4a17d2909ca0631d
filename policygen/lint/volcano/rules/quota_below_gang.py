"""A ResourceQuota is smaller than a gang of its namespace."""

from typing import Any

from policygen.core.amounts import amount_of, readable
from policygen.kubernetes.core import ResourceQuotaView
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """The quota refuses the gang's last pods, and the first ones wait for them.

    Skips quotas with scopes, which may not count these pods.
    Source: pkg/quota/v1/evaluator/core/pods.go; volcano's plugins/gang/gang.go.
    """
    quotas = facts.cluster.resource_quotas.by_namespace
    for group in facts.cluster.pod_groups:
        for quota in quotas.get(group.namespace, ()):
            if not quota.fields.counts_all:
                continue
            for name, amount in (group.fields.min_resources or {}).items():
                key, limit = _bound(quota.fields, name)
                if limit is not None and amount > limit:
                    yield Hit(
                        RULE,
                        f"{group} needs {amount_of(name, amount, limit)} at once, but {quota} "
                        f"allows {readable(name, limit, amount)}, so the last pods of the gang are refused and the others wait; "
                        "raise the quota, or shrink the gang",
                        group.at.to("spec", "minResources", name),
                        (quota.at.to("spec", "hard", key),),
                    )


def _bound(quota: ResourceQuotaView, name: str) -> tuple[str, Any]:
    for key in (f"requests.{name}", name if name in ("cpu", "memory") else ""):
        if key in quota.hard:
            return key, quota.hard[key]
    return "", None


RULE = ObjectRule(
    "quota-below-gang",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Raise the quota, or shrink the gang.",
    judges=("PodGroup",),
    check=check,
    reads=("ResourceQuota",),
)
