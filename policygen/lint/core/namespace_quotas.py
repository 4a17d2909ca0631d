"""The limits of ResourceQuotas by namespace; the lowest of several applies."""

from collections.abc import Mapping
from fractions import Fraction

from msgspec import Struct

from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.core import ResourceQuotaView
from policygen.kubernetes.table import Entry


class Bound(Struct, frozen=True, eq=False):
    """The lowest amount of a key of `hard` in a namespace."""

    quota: Entry[ResourceQuotaView]
    limit: Fraction


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
