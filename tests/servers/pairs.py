"""Pairs of loaded nodes, each with a pod that can run on both: which node a packing score prefers."""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from tests.servers.client import Object
from tests.servers.cluster import SETTLE_S, Cluster
from tests.servers.nodes import Shape, add_nodes
from tests.servers.workloads import GPU, Ask, on_node, pod, service

T = TypeVar("T")

PAIR = "example.com/pair"
HOST = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
HERE = "pairs"
"""The default namespace of the pods."""
NUMBERS = itertools.count()
"""Of choosers, for their names: kwok, late with an old pod, may delete the new one of its name."""
WHOLE = Ask(gpus=1, cpu="1", memory="1Gi")


@dataclass(frozen=True)
class Load:
    """What runs on a node of 128 cores and 1 TiB."""

    gpus: int = 1
    cpu: str = "1"
    memory: str = "1Gi"


@dataclass(frozen=True)
class Pair:
    """Two nodes. More of their resource is in use on the first: there a packing score goes."""

    first: Load
    second: Load
    ask: Ask = WHOLE
    resource: str = GPU
    prefers_second: int = 0
    """Weight of a preferred node affinity."""
    image_on_second: bool = False
    service: bool = False
    """Whether what runs on the first node and the chooser are behind one Service."""


BUSY = {"cpu": "120", "memory": "960Gi"}
MORE_GPUS = Pair(Load(4), Load(1, **BUSY))
"""The first has more GPUs in use, the second more of everything else."""
MORE_OF_ALL = Pair(Load(4, cpu="64", memory="512Gi"), Load(1))
SERVED = Pair(Load(6), Load(5), service=True)
"""Packing goes to the first, the default constraints of topology spread to the second."""


def create(
    cluster: Cluster, pairs: Mapping[str, Pair], *, namespace: str = HERE, cards: int = 8
) -> None:
    """The nodes of so many GPUs, what runs on them, and the Services."""
    shapes, things = {}, []
    for name, pair in pairs.items():
        served = {"app": name} if pair.service else {}
        for side, load, labels in (("first", pair.first, served), ("second", pair.second, {})):
            node = f"{side}-{name}"
            extended = {} if pair.resource == GPU else {pair.resource: cards}
            place = {PAIR: name, ZONE: f"{name}-{side}"}
            shapes[node] = Shape(gpus=cards, labels=place, extended=extended)
            things += _fillers(namespace, node, pair, load, labels)
        if served:
            things.append(service(name, namespace))
    add_nodes(cluster.client, shapes)
    cluster.create(*things)
    for name, pair in pairs.items():
        if pair.image_on_second:
            image = {"names": ["none.invalid/none:latest"], "sizeBytes": 100_000_000_000}
            status = {"status": {"images": [image]}}
            cluster.patch("v1", "Node", f"second-{name}", status, subresource="status")
    time.sleep(SETTLE_S)


def choices(cluster: Cluster, choosers: Mapping[T, Object]) -> dict[T, str]:
    """Which node of its pair each of these pods gets, by its side; the pods are gone afterwards."""
    named = {f"chooser-{next(NUMBERS)}": (what, made) for what, made in choosers.items()}
    names = {name: what for name, (what, _) in named.items()}
    (namespace,) = {made["metadata"]["namespace"] for made in choosers.values()}
    cluster.create(
        *(
            {**made, "metadata": {**made["metadata"], "name": name}}
            for name, (_, made) in named.items()
        )
    )

    def nodes() -> dict[T, str]:
        return {
            names[it["metadata"]["name"]]: it["spec"].get("nodeName", "").partition("-")[0]
            for it in cluster.pods(namespace)
            if it["metadata"]["name"] in names
        }

    cluster.until("every pod has a node", lambda: all(nodes().values()))
    found = nodes()
    for name in names:
        cluster.delete("v1", "Pod", name, namespace)
    cluster.until("they are gone", lambda: not nodes())
    return {what: found[what] for what in choosers}


def chooser(
    name: str,
    pair: Pair,
    scheduler: str | None,
    *,
    namespace: str = HERE,
    annotations: Mapping[str, str] | None = None,
) -> Object:
    """A pod that may go to the two nodes of a pair."""
    ask = replace(
        pair.ask,
        resource=pair.resource,
        scheduler=scheduler,
        node_selector={PAIR: name},
        labels={"app": name},
        annotations=annotations or {},
    )
    made = pod(f"chooser-{name}", namespace, ask)
    if pair.prefers_second:
        term = {"key": HOST, "operator": "In", "values": [f"second-{name}"]}
        wish = {"weight": pair.prefers_second, "preference": {"matchExpressions": [term]}}
        preferred = "preferredDuringSchedulingIgnoredDuringExecution"
        made["spec"]["affinity"] = {"nodeAffinity": {preferred: [wish]}}
    return made


def _fillers(
    namespace: str, node: str, pair: Pair, load: Load, labels: Mapping[str, str]
) -> list[Object]:
    """Pods of a GPU each; one of them, or one without a GPU, has all cores and memory."""
    rest = Ask(gpus=min(load.gpus, 1), resource=pair.resource, cpu=load.cpu, memory=load.memory)
    asks = [rest, *[Ask(gpus=1, resource=pair.resource)] * (load.gpus - 1)]
    return [
        on_node(node, f"{node}-{i}", namespace, replace(ask, labels=labels))
        for i, ask in enumerate(asks)
    ]
