"""The limits of ResourceQuotas by namespace, and the workloads that exceed them.

The lowest of several limits applies.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from msgspec import Struct

from policygen.core.amounts import exceeds
from policygen.core.finding import At
from policygen.kubernetes.cluster import VOLCANO_BATCH, Cluster
from policygen.kubernetes.core import ResourceQuotaView
from policygen.kubernetes.pod_quotas import (
    PODS,
    charge,
    counts,
    counts_pods,
    priority_class_of,
    resource_of,
)
from policygen.kubernetes.table import Entry
from policygen.kubernetes.workloads import PodTemplate, Workload
from policygen.lint.core.autoscalers import Autoscaler, autoscaler_of
from policygen.lint.core.limit_range_refusals import is_refused_by_range
from policygen.lint.core.queue_sums import LASTING
from policygen.lint.rule import Facts

_ZERO = Fraction(0)


class Bound(Struct, frozen=True, eq=False):
    """The lowest amount of a key of `hard` in a namespace."""

    quota: Entry[ResourceQuotaView]
    limit: Fraction


class QuotaExcess(Struct, frozen=True, eq=False):
    """Workloads of which each requests more than a limit."""

    bound: Bound
    key: str
    resource: str
    workloads: Sequence[tuple[Workload, Fraction]]
    """Each with the amount that all its pods request together."""

    @property
    def at(self) -> At:
        """The place of the limit."""
        return self.bound.quota.at.to("spec", "hard", self.key)


def quota_excesses(cluster: Cluster) -> tuple[QuotaExcess, ...]:
    """The limits that a single workload exceeds; use it with `cluster.derive`."""
    by_namespace = _with_scopes(cluster)
    found: dict[tuple[At, str], tuple[Bound, list[tuple[Workload, Fraction]]]] = {}
    for workload in cluster.workloads if by_namespace else ():
        limits = by_namespace.get(workload.namespace)
        if not limits:
            continue
        scaled = autoscaler_of(cluster, workload)
        for key, bound in limits:
            amount = _used(_counted(cluster, bound.quota.fields, workload), key, scaled)
            if exceeds(amount, bound.limit) and bound.limit >= 0:
                _, above = found.setdefault((bound.quota.at, key), (bound, []))
                above.append((workload, amount))
    return tuple(
        QuotaExcess(bound, key, "pods" if key in PODS else resource_of(key), workloads)
        for (_, key), (bound, workloads) in found.items()
    )


def _with_scopes(cluster: Cluster) -> Mapping[str, Sequence[tuple[str, Bound]]]:
    """The limits that count pods by namespace: the lowest of each key, and those of quotas with scopes."""
    found = {name: [*limits.items()] for name, limits in _of_pods(cluster).items()}
    for quota in cluster.resource_quotas:
        if not quota.fields.counts_all:
            found.setdefault(quota.namespace, []).extend(
                (key, Bound(quota, limit))
                for key, limit in quota.fields.hard.items()
                if counts_pods(key)
            )
    return found


def _counted(
    cluster: Cluster, quota: ResourceQuotaView, workload: Workload
) -> Sequence[PodTemplate]:
    """The templates whose pods a quota counts.

    With scopes, none of a Job of Volcano: its pods have the PriorityClass of the Job.
    """
    if quota.counts_all:
        return workload.templates
    if workload.object.group == VOLCANO_BATCH:
        return ()
    return [
        it
        for it in workload.templates
        if counts(quota, it.spec, priority_class_of(cluster, it.spec))
    ]


def used_by(cluster: Cluster, workload: Workload, key: str) -> Fraction:
    """What all pods of a workload use of a key together, also those that an autoscaler adds."""
    return _used(workload.templates, key, autoscaler_of(cluster, workload))


def _used(templates: Sequence[PodTemplate], key: str, scaled: Autoscaler | None) -> Fraction:
    used, pods = _ZERO, [template.replicas or 0 for template in templates]
    if scaled is not None:
        pods = [*map(scaled.pods, pods)]
    if key in PODS:
        return Fraction(sum(pods))
    for template, count in zip(templates, pods, strict=True):
        if count and (each := charge(template.spec, key)):
            every = each if count == 1 else each * count
            used = used + every if used else every
    return used


def used_until_deleted(facts: Facts) -> Mapping[tuple[str, str], Mapping[Workload, Fraction]]:
    """What workloads whose pods do not end use of each limit, by namespace and key; use it with `facts.derive`.

    Without workloads with pods that a LimitRange refuses.
    """
    by_namespace = _of_pods(facts.cluster)
    found: dict[tuple[str, str], dict[Workload, Fraction]] = {}
    for workload in facts.cluster.workloads if by_namespace else ():
        limits = by_namespace.get(workload.namespace) if workload.kind in LASTING else None
        if not limits or is_refused_by_range(facts, workload):
            continue
        scaled = autoscaler_of(facts.cluster, workload)
        for key in limits:
            if amount := _used(workload.templates, key, scaled):
                found.setdefault((workload.namespace, key), {})[workload] = amount
    return found


def _of_pods(cluster: Cluster) -> Mapping[str, Mapping[str, Bound]]:
    """The limits whose key counts pods."""
    every = cluster.derive(bounds).items()
    return {
        namespace: {key: bound for key, bound in limits.items() if counts_pods(key)}
        for namespace, limits in every
    }


def bounds(cluster: Cluster) -> Mapping[str, Mapping[str, Bound]]:
    """Limits by namespace and key, without quotas with scopes; use it with `cluster.derive`."""
    found: dict[str, dict[str, Bound]] = {}
    for quota in cluster.resource_quotas:
        if not quota.fields.counts_all:
            continue
        limits = found.setdefault(quota.namespace, {})
        for key, limit in quota.fields.hard.items():
            if key not in limits or limit < limits[key].limit:
                limits[key] = Bound(quota, limit)
    return found
