"""A ResourceQuota is smaller than a gang of its namespace."""

from collections.abc import Collection, Mapping
from typing import Any

from policygen.core.amounts import amount_of, readable
from policygen.core.finding import At, Exceeded
from policygen.kubernetes.core import ResourceQuotaView
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.namespace_quotas import quota_excesses
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano.queues import groups


def check(facts: Facts) -> Hits:
    """The quota refuses the gang's last pods, and the first ones wait for them.

    Skips quotas with scopes, which may not count these pods, and gangs whose workload
    workload-exceeds-resource-quota reports.
    Source: pkg/quota/v1/evaluator/core/pods.go; volcano's plugins/gang/gang.go.
    """
    quotas = facts.cluster.resource_quotas.by_namespace
    members, reported = facts.cluster.derive(groups), _reported(facts)
    for group in facts.cluster.pod_groups:
        workloads = {it.at for it, _ in members.get((group.namespace, group.name), ())}
        for quota in quotas.get(group.namespace, ()):
            if not quota.fields.counts_all:
                continue
            for name, amount in (group.fields.min_resources or {}).items():
                key, limit = _bound(quota.fields, name)
                at = quota.at.to("spec", "hard", key)
                if (
                    limit is not None
                    and amount > limit
                    and workloads.isdisjoint(reported.get(at, ()))
                ):
                    allowed = f"{quota} allows {amount_of(name, limit, amount)}"
                    yield Hit(
                        RULE,
                        f"{group} needs {amount_of(name, amount, limit)} at once, but {quota} "
                        f"allows {readable(name, limit, amount)}, so the last pods of the gang are refused and the others wait; "
                        "raise the quota, or shrink the gang",
                        group.at.to("spec", "minResources", name),
                        (at,),
                        exceeds=(
                            Exceeded(
                                group.at, name, limit, allowed, pods=group.fields.min_member or 0
                            ),
                        ),
                    )


def _reported(facts: Facts) -> Mapping[At, Collection[At]]:
    """The workloads that alone exceed a limit, by its place, if their rule runs."""
    if "workload-exceeds-resource-quota" not in facts.run:
        return {}
    excesses = facts.cluster.derive(quota_excesses)
    return {it.at: {workload.at for workload, _ in it.workloads} for it in excesses}


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
    reads=("ResourceQuota", *KINDS, "PriorityClass", "HorizontalPodAutoscaler", "ScaledObject"),
)
