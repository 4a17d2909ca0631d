"""The limits of ResourceQuotas by namespace, and the workloads that exceed them.

The lowest of several limits applies.
"""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from msgspec import Struct

from policygen.core.finding import At
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.core import ResourceQuotaView
from policygen.kubernetes.pod_quotas import PODS, charge, resource_of
from policygen.kubernetes.table import Entry
from policygen.kubernetes.workloads import Workload
from policygen.lint.core.autoscalers import autoscalers


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
    by_namespace = cluster.derive(bounds)
    found: dict[tuple[str, str, str], list[tuple[Workload, Fraction]]] = {}
    for workload in cluster.workloads:
        limits = by_namespace.get(workload.namespace, {})
        for (key, resource), amount in _used(cluster, workload, limits).items() if limits else ():
            if amount > limits[key].limit >= 0:
                place = workload.namespace, key, resource
                found.setdefault(place, []).append((workload, amount))
    return tuple(
        QuotaExcess(by_namespace[namespace][key], key, resource, workloads)
        for (namespace, key, resource), workloads in found.items()
    )


def _used(
    cluster: Cluster, workload: Workload, keys: Iterable[str]
) -> Mapping[tuple[str, str], Fraction]:
    """What all pods of a workload use of these keys together, by key and resource.

    The minimum of an autoscaler counts if it is more than the replicas.
    """
    pods = [it.replicas or 0 for it in workload.templates]
    least = minimum(cluster, workload)
    return {
        (key, "pods" if key in PODS else resource_of(key)): sum(
            (
                charge(it.spec, key) * max(count, least)
                for it, count in zip(workload.templates, pods, strict=True)
            ),
            Fraction(0),
        )
        for key in keys
    }


def minimum(cluster: Cluster, workload: Workload) -> int:
    """The pods to which an autoscaler raises the number of a workload; 0 without one."""
    key = workload.namespace, workload.kind, workload.name
    scaled = cluster.derive(autoscalers).get(key)
    return 0 if scaled is None else scaled.least


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
