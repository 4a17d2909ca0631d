"""The setup of behaviour tests: a rendered spec, its nodes, and Jobs that request GPUs."""

from __future__ import annotations

from typing import Any

from .client import Object
from .cluster import KUEUE, Cluster
from .rendering import Rendered, rendered
from .specs import Document
from .workloads import Ask, job

ONE = Ask(gpus=1)


def ready(cluster: Cluster, *documents: Document, nodes: int | None = None) -> Rendered:
    """Render, apply and add the nodes of the pools, or so many of each."""
    out = rendered(documents)
    cluster.apply(out.text)
    for facts in out.pools.values():
        cluster.add_nodes(facts, nodes)
    return out


def jobs(
    namespace: str,
    count: int,
    ask: Ask = ONE,
    *,
    prefix: str | None = None,
    queue: str = "a100",
    **more: Any,
) -> list[Object]:
    """So many like Jobs for a Kueue queue: NAMESPACE-0, NAMESPACE-1, ..."""
    name = prefix or namespace
    return [job(f"{name}-{i}", namespace, ask, queue=queue, **more) for i in range(count)]


def held(cluster: Cluster, *namespaces: str) -> list[int]:
    """How many workloads Kueue has admitted in each namespace."""
    return [len(cluster.admitted(namespace)) for namespace in namespaces]


def messages(cluster: Cluster, namespace: str) -> list[str]:
    """The messages of the conditions of a namespace's Workloads."""
    return [
        condition["message"]
        for workload in cluster.objects(KUEUE, "Workload", namespace)
        for condition in workload.get("status", {}).get("conditions", [])
    ]
