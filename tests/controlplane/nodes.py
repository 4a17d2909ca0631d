"""Fake GPU nodes: Node objects that kwok makes Ready."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from .client import MERGE, ApiError, Client, Object

READY_DEADLINE_S = 60.0
POLL_S = 0.1


@dataclass(frozen=True)
class Shape:
    """What each node of a pool has."""

    gpus: int = 8
    gpu_resource: str = "nvidia.com/gpu"
    cpu: str = "128"
    memory: str = "1Ti"
    pods: str = "110"
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: Sequence[Mapping[str, str]] = ()

    @property
    def resources(self) -> dict[str, str]:
        shape = {"cpu": self.cpu, "memory": self.memory, "pods": self.pods}
        if self.gpus:
            shape[self.gpu_resource] = str(self.gpus)
        return shape


def add_nodes(client: Client, names: Iterable[str], shape: Shape) -> None:
    """Create the nodes and wait until each is Ready and free of the not-ready taint."""
    wanted = set(names)
    for name in sorted(wanted):
        node: Object = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": name,
                "labels": {"kubernetes.io/hostname": name, **shape.labels},
            },
            "spec": {"taints": [dict(taint) for taint in shape.taints]},
        }
        client.create(node)
        status: Object = {"capacity": shape.resources, "allocatable": shape.resources}
        answer = client.request(
            "PATCH", f"/api/v1/nodes/{name}/status", {"status": status}, content_type=MERGE
        )
        if not answer.ok:
            raise ApiError(f"Node {name}/status: {answer.message}")
    _wait_until_usable(client, wanted)


def _wait_until_usable(client: Client, wanted: set[str]) -> None:
    end = time.monotonic() + READY_DEADLINE_S
    while True:
        usable = {
            node["metadata"]["name"]
            for node in client.get("/api/v1/nodes").body["items"]
            if _is_usable(node)
        }
        if wanted <= usable:
            return
        if time.monotonic() > end:
            raise ApiError(f"nodes not Ready after {READY_DEADLINE_S:.0f} s: {wanted - usable}")
        time.sleep(POLL_S)


def _is_usable(node: Object) -> bool:
    ready = any(
        condition["type"] == "Ready" and condition["status"] == "True"
        for condition in node.get("status", {}).get("conditions", [])
    )
    tainted = any(
        taint["key"].startswith("node.kubernetes.io/") for taint in node["spec"].get("taints", [])
    )
    return ready and not tainted
