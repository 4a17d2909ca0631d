"""The LimitRanges of a namespace."""

from collections.abc import Iterator

from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.core import LimitRangeItem


def limits_of(cluster: Cluster, namespace: str, type_: str) -> Iterator[LimitRangeItem]:
    """The items of one type, such as Container, of a namespace's LimitRanges."""
    for entry in cluster.limit_ranges.by_namespace.get(namespace, ()) if namespace else ():
        for item in entry.fields.limits:
            if item.type == type_:
                yield item


def container_limits(cluster: Cluster, namespace: str) -> Iterator[LimitRangeItem]:
    """The items for containers of a namespace's LimitRanges."""
    return limits_of(cluster, namespace, "Container")
