"""A Job has no room in a ResourceQuota beside the pods of the namespace that do not end."""

from collections.abc import Mapping
from fractions import Fraction

from policygen.core.amounts import amount_of, exceeds, readable, summed
from policygen.core.quoting import listed, some
from policygen.kubernetes.pod_quotas import PODS, charge, resource_of
from policygen.kubernetes.workloads import KINDS, Workload
from policygen.lint.core.limit_range_refusals import is_refused_by_range
from policygen.lint.core.namespace_quotas import Bound, bounds, used_until_deleted
from policygen.lint.core.queue_sums import LASTING
from policygen.lint.core.refused_pods import request_path
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_Held = tuple[Mapping[Workload, Fraction], Fraction, Fraction]
"""What pods that do not end use of a limit, the sum, and the rest."""


def check(facts: Facts) -> Hits:
    """The API server refuses its pods as long as the others exist. Counts one pod of the Job.

    workload-exceeds-resource-quota and workloads-exceed-resource-quota report larger faults.
    Source: as in lint/core/namespace_quotas.py.
    """
    by_namespace = facts.cluster.derive(bounds)
    held: dict[tuple[str, str], _Held] = {}
    for (namespace, key), others in facts.derive(used_until_deleted).items():
        used = summed(others.values())
        room = by_namespace[namespace][key].limit - used
        if room >= 0:
            held[namespace, key] = others, used, room
    for workload in facts.cluster.workloads if held else ():
        if workload.kind in LASTING or workload.kind == "Pod":
            continue
        if not is_refused_by_range(facts, workload):
            yield from _hit(workload, by_namespace.get(workload.namespace, {}), held)


def _hit(
    workload: Workload,
    limits: Mapping[str, Bound],
    held: Mapping[tuple[str, str], _Held],
) -> Hits:
    """`held` is by namespace and key."""
    for key, bound in limits.items():
        found = held.get((workload.namespace, key))
        if found is None:
            continue
        (others, used, room), limit = found, bound.limit
        for template in workload.templates:
            each = charge(template.spec, key)
            if exceeds(each, room) and each <= limit:
                name = "pods" if key in PODS else resource_of(key)
                users = [str(it) for it in others]
                path = () if key in PODS else request_path(template.spec, name)
                yield Hit(
                    RULE,
                    f"{workload} never starts: {some(users, 'other workload')}, whose pods do not end, "
                    f"{'uses' if len(users) == 1 else 'use'} {readable(name, used, limit)} of the "
                    f"{amount_of(name, limit, used)} that {bound.quota} allows, and a pod requests "
                    f"{readable(name, each, limit)}; raise the quota, or run fewer pods of {listed(users[:2], 'or')}",
                    template.at.to("spec", *path),
                    (bound.quota.at.to("spec", "hard", key), *(it.at for it in others)),
                )
                return


RULE = ObjectRule(
    "job-exceeds-free-quota",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Raise the ResourceQuota, or run fewer of the pods that do not end.",
    judges=KINDS,
    check=check,
    reads=("LimitRange", "ResourceQuota", "HorizontalPodAutoscaler", "ScaledObject"),
)
