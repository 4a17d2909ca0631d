"""What ResourceQuotas leave a namespace: of several the lowest counts."""

from collections.abc import Mapping
from fractions import Fraction

from msgspec import Struct

from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.core import ResourceQuota
from policygen.kubernetes.table import Entry


class Bound(Struct, frozen=True, eq=False):
    """The lowest amount of a key of `hard` in a namespace."""

    quota: Entry[ResourceQuota]
    limit: Fraction


def bounds(cluster: Cluster) -> Mapping[str, Mapping[str, Bound]]:
    """By namespace and key; use it with `cluster.derive`. Quotas with scopes are left out."""
    found: dict[str, dict[str, Bound]] = {}
    for quota in cluster.resource_quotas:
        if not quota.it.counts_all:
            continue
        mine = found.setdefault(quota.namespace, {})
        for key, limit in quota.it.hard.items():
            if key not in mine or limit < mine[key].limit:
                mine[key] = Bound(quota, limit)
    return found
