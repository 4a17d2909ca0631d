"""Objects by kind, namespace and name, and those that created them."""

from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.object import Object
from policygen.kubernetes.untyped import mappings, text

ObjectKey = tuple[str, str, str]
"""Kind, namespace and name."""


def key_of(object_: Object) -> ObjectKey:
    """Kind, namespace and name of an object."""
    return object_.kind, object_.namespace, object_.name


def is_owned(object_: Object) -> bool:
    """Whether a controller created an object."""
    return any(
        it.get("controller") is True for it in mappings(object_.data, "metadata", "ownerReferences")
    )


def parents(cluster: Cluster) -> dict[ObjectKey, ObjectKey]:
    """The controller of each object that has one."""
    return {
        key_of(it): (text(owner, "kind"), it.namespace, text(owner, "name"))
        for it in cluster.objects
        for owner in mappings(it.data, "metadata", "ownerReferences")
        if owner.get("controller") is True and it.group != "kueue.x-k8s.io"
    }
