"""The limits of ResourceQuotas by namespace, and the workloads that exceed them.

The lowest of several limits applies. Source: pkg/quota/v1/evaluator/core/pods.go, PodUsageFunc.
"""

from collections.abc import Container, Iterator, Mapping, Sequence
from fractions import Fraction

from msgspec import Struct

from policygen.core.finding import At
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.core import ResourceQuotaView
from policygen.kubernetes.table import Entry
from policygen.kubernetes.workloads import PodTemplate, Workload


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
        for (key, resource), amount in _used(workload, limits).items() if limits else ():
            if amount > limits[key].limit >= 0:
                place = workload.namespace, key, resource
                found.setdefault(place, []).append((workload, amount))
    return tuple(
        QuotaExcess(by_namespace[namespace][key], key, resource, workloads)
        for (namespace, key, resource), workloads in found.items()
    )


def _used(workload: Workload, keys: Container[str]) -> Mapping[tuple[str, str], Fraction]:
    """What all pods of a workload use of these keys together, by key and resource."""
    used: dict[tuple[str, str], Fraction] = {}
    for template in workload.templates:
        for key, resource, amount in _of_pod(template):
            if key in keys:
                total = amount * (template.replicas or 0)
                used[key, resource] = used.get((key, resource), Fraction(0)) + total
    return used


def _of_pod(template: PodTemplate) -> Iterator[tuple[str, str, Fraction]]:
    yield "pods", "pods", Fraction(1)
    for resource, amount in template.spec.requests.items():
        yield f"requests.{resource}", resource, amount
        if "/" not in resource:
            yield resource, resource, amount
    for container in template.spec.containers:
        for resource, amount in container.resources.limits.items():
            if "/" not in resource:
                yield f"limits.{resource}", resource, amount


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
