"""Objects by kind, namespace and name, and those that created them."""

from collections.abc import Iterator, Mapping
from typing import Any

from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.object import Object
from policygen.kubernetes.untyped import mappings, text

ObjectKey = tuple[str, str, str]
"""Kind, namespace and name."""


def key_of(object_: Object) -> ObjectKey:
    """Kind, namespace and name of an object."""
    return object_.kind, object_.namespace, object_.name


def is_owned(object_: Object) -> bool:
    """Whether the simulation takes an object as a part of the one that owns it."""
    return any(True for _ in _controllers(object_))


def parents(cluster: Cluster) -> dict[ObjectKey, ObjectKey]:
    """The owner of each object that is a part of another one."""
    return {
        key_of(it): (text(owner, "kind"), it.namespace, text(owner, "name"))
        for it in cluster.objects
        if it.group != "kueue.x-k8s.io"
        for owner in _controllers(it)
    }


def _controllers(object_: Object) -> Iterator[Mapping[str, Any]]:
    """The owner of an object that is a part of it. Each run of a CronJob is a job of its own."""
    for it in mappings(object_.data, "metadata", "ownerReferences"):
        if it.get("controller") is True and text(it, "kind") != "CronJob":
            yield it
