"""Prepares examples of pages for servers: own names, one Configuration, and nodes that work."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import yaml

from tests.servers.client import Object
from tests.servers.cluster import Cluster
from tests.servers.nodes import Shape
from tests.servers.rendering import json_documents

NAMESPACE = "vision"
"""The namespace of nearly every page; its queues begin with it too."""
FILES = ("Configuration", "Node")
"""Kinds that are not applied: the one is a file, the others are nodes for kwok."""
FIRST = (
    "Namespace",
    "ResourceFlavor",
    "Topology",
    "AdmissionCheck",
    "Cohort",
    "ClusterQueue",
    "LocalQueue",
)
LAST = ("Deployment", "StatefulSet", "Pod", "Job", "HorizontalPodAutoscaler")


def scene(text: str, name: str, *words: str) -> str:
    """An example in a namespace of its own, so that several examples can run on one control plane.

    `words` are other names that must differ, outside of namespaces: each becomes NAME-WORD.
    """
    text = re.sub(rf"\b{NAMESPACE}\b", name, text)
    for word in words:
        text = re.sub(rf"(?<![\w-]){re.escape(word)}(?![\w-])", f"{name}-{word}", text)
    return text


def show(cluster: Cluster, *scenes: str) -> None:
    """Apply scenes at once, kind by kind, queues first and what uses them last."""
    things = [it for text in scenes for it in documents(text) if it["kind"] not in FILES]
    apply(cluster, things)


def apply(cluster: Cluster, things: Iterable[Object]) -> None:
    """Apply objects kind by kind, queues first and what uses them last."""
    cluster.apply(json_documents(sorted(things, key=_rank)))


def documents(text: str) -> list[Object]:
    return [it for it in yaml.safe_load_all(text) if it]


def configuration(*examples: str) -> Object:
    """The Configurations of some examples as one, which is refused where they contradict."""
    merged: Object = {}
    for text in examples:
        for it in documents(text):
            if it["kind"] == "Configuration":
                merged = _merged(merged, it)
    return merged


def add_nodes(cluster: Cluster, text: str) -> None:
    """An example's Nodes, with room for pods."""
    for it in documents(text):
        if it["kind"] == "Node":
            cluster.add_nodes(shape(it), prefix=it["metadata"]["name"])


def shape(node: Object) -> Shape:
    """A page's Node, with defaults for the amounts that it does not set."""
    has = dict(node["status"]["allocatable"])
    usual = Shape()
    return Shape(
        gpus=0,
        cpu=str(has.pop("cpu", usual.cpu)),
        memory=str(has.pop("memory", usual.memory)),
        pods=str(has.pop("pods", usual.pods)),
        labels=node["metadata"].get("labels", {}),
        taints=node.get("spec", {}).get("taints", ()),
        extended={name: int(amount) for name, amount in has.items()},
    )


def conditions(thing: Object) -> dict[str, Object]:
    """The conditions of an object's status by type."""
    return {it["type"]: it for it in thing.get("status", {}).get("conditions") or []}


def _rank(thing: Object) -> tuple[int, str, str]:
    kind = str(thing["kind"])
    if kind in FIRST:
        return -1, str(FIRST.index(kind)), str(thing["apiVersion"])
    return (LAST.index(kind) + 1 if kind in LAST else 0), kind, str(thing["apiVersion"])


def _merged(left: Any, right: Any) -> Any:
    if isinstance(left, dict) and isinstance(right, dict):
        both = {**left, **right}
        return {
            key: _merged(left[key], right[key]) if key in left and key in right else both[key]
            for key in both
        }
    if isinstance(left, list) and isinstance(right, list):
        return [*left, *(it for it in right if it not in left)]
    assert left == right, f"{left!r} and {right!r}"
    return left
