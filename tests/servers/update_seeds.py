"""Objects of kinds without a recorded schema, of which `updates` changes fields: storage and Services."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .client import Object

VOLUMES: tuple[Object, ...] = tuple(
    {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"of-{name}"},
        "spec": {
            "capacity": {"storage": "10Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/a"},
            **({"storageClassName": name} if name != "plain" else {}),
            "claimRef": {"namespace": "updates", "name": f"of-{name}"},
        },
    }
    for name in ("grows", "fixed", "plain")
)  # fmt: skip
"""Volumes to which the claims of `unrecorded` are bound."""
BOUND = frozenset(it["metadata"]["name"] for it in VOLUMES)
UNRECORDED = ("PersistentVolumeClaim", "RuntimeClass", "Service", "StorageClass")
"""The kinds."""


def unrecorded(namespace: str) -> Iterator[Object]:
    """The objects, in a namespace if they have one."""

    def made(api_version: str, kind: str, name: str, **fields: Any) -> Object:
        metadata = {"name": name, "namespace": namespace}
        return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}

    for name in ("grows", "fixed"):
        yield made(
            "storage.k8s.io/v1", "StorageClass", name, provisioner="a.b/c",
            parameters={"a": "b"}, reclaimPolicy="Retain", volumeBindingMode="Immediate",
            **({"allowVolumeExpansion": True} if name == "grows" else {}),
        )  # fmt: skip
    for name in ("grows", "fixed", "plain"):
        spec = {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "5Gi"}},
            "storageClassName": name if name != "plain" else "",
            "volumeMode": "Filesystem",
        }
        yield made("v1", "PersistentVolumeClaim", f"of-{name}", spec=spec)
    yield made("v1", "PersistentVolumeClaim", "waits", spec={**spec, "storageClassName": "other"})
    yield made(
        "node.k8s.io/v1", "RuntimeClass", "a", handler="a", overhead={"podFixed": {"cpu": "1"}}
    )
    ports = [{"port": 80}]
    yield made("v1", "Service", "plain", spec={"ports": ports, "selector": {"a": "b"}})
    yield made("v1", "Service", "named", spec={"ports": ports, "clusterIP": "10.96.0.77"})
    yield made("v1", "Service", "headless", spec={"ports": ports, "clusterIP": "None"})
    yield made("v1", "Service", "other", spec={"type": "ExternalName", "externalName": "a.b"})
    yield made(
        "v1", "Service", "balanced",
        spec={"ports": ports, "type": "LoadBalancer", "loadBalancerClass": "a.b/c"},
    )  # fmt: skip
