"""Nodes and pods for tests of placement."""

from fractions import Fraction

import yaml

from policygen.core.decoding import converted
from policygen.core.names import GPU, HOSTNAME
from policygen.kubernetes.core import LabelSelector, TaintView
from policygen.kubernetes.node_groups import Node
from policygen.kubernetes.typed import decoded
from policygen.kubernetes.workloads import PodSpec
from policygen.simulate.placement.shape import PodShape, shape_of

GIBI = 1 << 30


def node(name="a", cpu=4, memory=8, gpus=0, taints=(), **labels: str) -> Node:
    """A node with so many cores and GiB. A label `zone` is that of its topology."""
    if "zone" in labels:
        labels["topology.kubernetes.io/zone"] = labels.pop("zone")
    return Node(
        name,
        {HOSTNAME: name, **labels},
        tuple(TaintView("k", it) for it in taints),
        {
            "cpu": Fraction(cpu),
            "memory": Fraction(memory * GIBI),
            "pods": Fraction(110),
            GPU: Fraction(gpus),
        },
    )


def shape(spec: str = "", cpu="1", memory="2Gi", gpus=0, owner=None, **labels: str) -> PodShape:
    """A pod with one container; `spec` is more of its pod spec. `owner`: labels that its ReplicaSet selects."""
    requests = {"cpu": cpu, "memory": memory, GPU: gpus}
    resources = {"requests": {name: it for name, it in requests.items() if it}}
    data = {"containers": [{"name": "c", "resources": resources}]} | (yaml.safe_load(spec) or {})
    selector = LabelSelector(owner) if owner else None
    return shape_of(
        converted(data, PodSpec, decoded), (owner or {}) | labels, default_selector=selector
    )
