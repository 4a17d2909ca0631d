"""Karpenter's controller on the bench, with its provider that makes nodes of KWOK."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

from tests.servers.build import Built
from tests.servers.client import Object
from tests.servers.cluster import Cluster
from tests.servers.ports import free_ports

API = "karpenter.sh/v1"
CAPACITY_TYPE = "karpenter.sh/capacity-type"
ZONE = "topology.kubernetes.io/zone"
NODE_CLASS: Object = {
    "apiVersion": "karpenter.kwok.sh/v1alpha1",
    "kind": "KWOKNodeClass",
    "metadata": {"name": "gpu"},
}
REFERENCE = {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "gpu"}
"""What a NodePool of the bench has as `nodeClassRef`."""
H100: Object = {
    "name": "p5.48xlarge",
    "architecture": "amd64",
    "operatingSystems": ["linux"],
    "resources": {
        "cpu": "192",
        "memory": "2048Gi",
        "ephemeral-storage": "20Gi",
        "pods": "110",
        "nvidia.com/gpu": "8",
    },
    "offerings": [
        {
            "Price": price,
            "Available": True,
            "Requirements": [
                {"key": key, "operator": "In", "values": [value]}
                for key, value in ((CAPACITY_TYPE, capacity), (ZONE, "a"))
            ],
        }
        for capacity, price in (("spot", 1.0), ("on-demand", 2.0))
    ],
}
"""The only type of instance that the provider has."""


@contextmanager
def karpenter(cluster: Cluster, built: Built) -> Iterator[None]:
    """Run Karpenter, whose CRDs are installed. At the end, the nodes that it made can be deleted."""
    bench = cluster.bench
    types = bench.state / "instance-types.json"
    types.write_text(json.dumps([H100]), "utf-8")
    metrics, health = free_ports(2)
    cluster.create(NODE_CLASS)
    bench.run(
        "karpenter",
        [built.binary("karpenter"), f"--instance-types-file-path={types}"],
        {
            "CPU_REQUESTS": "1000",
            "DISABLE_LEADER_ELECTION": "true",
            "HEALTH_PROBE_PORT": str(health),
            "KUBERNETES_MIN_VERSION": "1.19.0-0",
            "METRICS_PORT": str(metrics),
            "SYSTEM_NAMESPACE": "kube-system",
        },
    )
    try:
        yield
    finally:
        bench.end("karpenter")
        for api, kind in (
            (API, "NodeClaim"),
            ("v1", "Node"),
            (NODE_CLASS["apiVersion"], NODE_CLASS["kind"]),
        ):
            for it in cluster.objects(api, kind):
                if it["metadata"].get("finalizers"):
                    cluster.patch(
                        api, kind, it["metadata"]["name"], {"metadata": {"finalizers": None}}
                    )
