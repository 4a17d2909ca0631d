"""Fake GPU nodes: Node objects that kwok makes Ready."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from policygen.plan.pool import PoolFacts

from .client import ApiError, Client, Object

READY_DEADLINE_S = 120.0
POLL_S = 0.1
THREADS = 8


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
    extended: Mapping[str, int] = field(default_factory=dict)
    """More resources by name, such as MIG instances."""

    @property
    def resources(self) -> dict[str, str]:
        shape = {"cpu": self.cpu, "memory": self.memory, "pods": self.pods}
        for name, count in {self.gpu_resource: self.gpus, **self.extended}.items():
            if count:
                shape[name] = str(count)
        return shape


def pool_nodes(facts: PoolFacts, labels: Mapping[str, str] | None = None) -> dict[str, Shape]:
    """The nodes of a spec's pool by name, which together have exactly what is available.

    Cards and replicas fill node after node, so the last node may have fewer; MIG instances are
    dealt out evenly. `labels` are added to those of the pool's nodeSelector.
    """
    assert facts.node is not None
    capacity = facts.pool.capacity
    cards = capacity.available_gpus or capacity.total_gpus or (capacity.nodes or 0) * facts.per_node
    count = -(-cards // facts.per_node)
    shape = Shape(
        gpus=0,
        cpu=f"{facts.node.cpu_milli}m",
        memory=str(facts.node.memory_bytes),
        labels={**dict(facts.pool.node_selector), **(labels or {})},
        taints=tuple(_taints(facts)),
    )
    found = {}
    for index in range(count):
        has = {}
        for resource in facts.resources:
            units = facts.available[resource]
            if facts.pool.gpu.sharing == "mig":
                has[resource] = units // count + (index < units % count)
            else:
                has[resource] = min(facts.units_per_node, units - index * facts.units_per_node)
        found[f"{facts.name}-{index}"] = replace(shape, extended=has)
    return found


def _taints(facts: PoolFacts) -> Iterator[dict[str, str]]:
    for taint in facts.pool.taints:
        value = {} if taint.value is None else {"value": taint.value}
        yield {"key": taint.key, "effect": taint.effect, **value}


def add_nodes(client: Client, nodes: Mapping[str, Shape]) -> None:
    """Create the nodes and wait until each is Ready and free of the not-ready taint."""
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(lambda entry: _add(client, *entry), sorted(nodes.items())))
    _wait_until_usable(client, nodes)


def _add(client: Client, name: str, shape: Shape) -> None:
    node: Object = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {"kubernetes.io/hostname": name, **shape.labels},
        },
        "spec": {"taints": [dict(taint) for taint in shape.taints]},
        # Here and not by a patch: kwok gives a node without resources some of its own.
        "status": {"capacity": shape.resources, "allocatable": shape.resources},
    }
    client.create(node)


def _wait_until_usable(client: Client, wanted: Iterable[str]) -> None:
    end = time.monotonic() + READY_DEADLINE_S
    missing = set(wanted)
    while True:
        missing.difference_update(
            node["metadata"]["name"]
            for node in client.get("/api/v1/nodes").body["items"]
            if _is_usable(node)
        )
        if not missing:
            return
        if time.monotonic() > end:
            raise ApiError(f"nodes not Ready after {READY_DEADLINE_S:.0f} s: {sorted(missing)}")
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
