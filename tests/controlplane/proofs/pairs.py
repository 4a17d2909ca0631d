"""Pairs of loaded nodes, each with a pod that chooses one of the two: what a packing score says."""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

from tests.controlplane.client import Object
from tests.controlplane.cluster import SETTLE_S, Cluster
from tests.controlplane.nodes import Shape, add_nodes
from tests.controlplane.workloads import GPU, Ask, pod

PAIR = "example.com/pair"
HOST = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
HERE = "pairs"
"""The namespace."""
NUMBERS = itertools.count()
"""Of choosers, for their names: kwok, late with an old pod, may delete the new one of its name."""
WHOLE = Ask(gpus=1, cpu="1", memory="1Gi")


@dataclass(frozen=True)
class Load:
    """What runs on a node of 8 GPUs, 128 cores and 1 TiB."""

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
    prefers_second: bool = False
    image_on_second: bool = False
    service: bool = False
    """Whether what runs on the first node and the chooser are behind one Service."""


BUSY = {"cpu": "120", "memory": "960Gi"}
MORE_GPUS = Pair(Load(4), Load(1, **BUSY))
"""The first has more GPUs in use, the second more of everything else."""
MORE_OF_ALL = Pair(Load(4, cpu="64", memory="512Gi"), Load(1))
SERVED = Pair(Load(6), Load(5), service=True)
"""Packing goes to the first, the default constraints of topology spread to the second."""


def stand(cluster: Cluster, pairs: Mapping[str, Pair]) -> None:
    """The nodes, what runs on them, and the Services."""
    shapes, things = {}, []
    for name, pair in pairs.items():
        served = {"app": name} if pair.service else {}
        for side, load, labels in (("first", pair.first, served), ("second", pair.second, {})):
            node = f"{side}-{name}"
            extended = {} if pair.resource == GPU else {pair.resource: 8}
            place = {PAIR: name, ZONE: f"{name}-{side}"}
            shapes[node] = Shape(gpus=8, labels=place, extended=extended)
            things += _fillers(node, pair, load, labels)
        if served:
            things.append(_service(name))
    add_nodes(cluster.client, shapes)
    cluster.create(*things)
    for name, pair in pairs.items():
        if pair.image_on_second:
            image = {"names": ["none.invalid/none:latest"], "sizeBytes": 100_000_000_000}
            status = {"status": {"images": [image]}}
            cluster.patch("v1", "Node", f"second-{name}", status, subresource="status")
    time.sleep(SETTLE_S)


def choices(cluster: Cluster, choosers: Mapping[str, Object]) -> dict[str, str]:
    """Which node of its pair each of these pods gets; the pods are gone afterwards."""
    cluster.create(*choosers.values())
    names = {made["metadata"]["name"]: what for what, made in choosers.items()}

    def nodes() -> dict[str, str]:
        return {
            names[it["metadata"]["name"]]: it["spec"].get("nodeName", "").partition("-")[0]
            for it in cluster.pods(HERE)
            if it["metadata"]["name"] in names
        }

    cluster.until("every pod has a node", lambda: all(nodes().values()))
    found = nodes()
    for name in names:
        cluster.delete("v1", "Pod", name, HERE)
    cluster.until("they are gone", lambda: not nodes())
    return {what: found[what] for what in choosers}


def chooser(name: str, pair: Pair, scheduler: str | None) -> Object:
    """A pod that may go to the two nodes of a pair."""
    ask = replace(
        pair.ask,
        resource=pair.resource,
        scheduler=scheduler,
        node_selector={PAIR: name},
        labels={"app": name},
    )
    made = pod(f"chooser-{next(NUMBERS)}", HERE, ask)
    if pair.prefers_second:
        term = {"key": HOST, "operator": "In", "values": [f"second-{name}"]}
        wish = {"weight": 100, "preference": {"matchExpressions": [term]}}
        preferred = "preferredDuringSchedulingIgnoredDuringExecution"
        made["spec"]["affinity"] = {"nodeAffinity": {preferred: [wish]}}
    return made


def _fillers(node: str, pair: Pair, load: Load, labels: Mapping[str, str]) -> list[Object]:
    """Pods of a GPU each; one of them, or one without a GPU, has all cores and memory."""
    rest = Ask(gpus=min(load.gpus, 1), resource=pair.resource, cpu=load.cpu, memory=load.memory)
    asks = [rest, *[Ask(gpus=1, resource=pair.resource)] * (load.gpus - 1)]
    made = [pod(f"{node}-{i}", HERE, replace(ask, labels=labels)) for i, ask in enumerate(asks)]
    for each in made:
        each["spec"]["nodeName"] = node
    return made


def _service(name: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": HERE},
        "spec": {"selector": {"app": name}, "ports": [{"port": 80}]},
    }
