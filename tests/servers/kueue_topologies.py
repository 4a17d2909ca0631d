"""Drawn nodes and topologies for scenarios of Kueue's scheduler."""

from __future__ import annotations

import random
from typing import Any

Data = dict[str, Any]

HOST = "kubernetes.io/hostname"
LEVELS = (("block", "rack", HOST), ("rack", HOST), ("block", "rack"), (HOST,))
NAME = "t"


def add(r: random.Random, scenario: Data) -> None:
    """Add a topology, nodes, and what pod sets ask of them."""
    levels = r.choice(LEVELS)
    scenario["topologies"] = [
        {
            "apiVersion": "kueue.x-k8s.io/v1beta2",
            "kind": "Topology",
            "metadata": {"name": NAME},
            "spec": {"levels": [{"nodeLabel": it} for it in levels]},
        }
    ]
    scenario["nodes"], scenario["pods"] = [], []
    for flavor in scenario["flavors"]:
        if r.random() < 0.75:
            name = flavor["metadata"]["name"]
            flavor["spec"] |= {"topologyName": NAME, "nodeLabels": {"pool": name}}
            for i in range(r.randint(1, 6)):
                _node(r, scenario, f"{name}-n{i}", {"pool": name})
    for step in scenario["steps"]:
        for workload in step["create"]:
            for pod_set in workload["spec"]["podSets"]:
                if r.random() < 0.65:
                    pod_set["topologyRequest"] = _request(r, levels, pod_set["count"])


def _node(r: random.Random, scenario: Data, name: str, labels: Data) -> None:
    block, rack = f"b{r.randint(0, 1)}", f"r{r.randint(0, 1)}"
    allocatable = {
        "cpu": f"{r.randint(1, 16) * 500}m",
        "memory": f"{r.randint(1, 10)}Gi",
        "nvidia.com/gpu": str(r.choice([2, 4, 8])),
        "pods": str(r.choice([2, 4, 110])),
    }
    spec: Data = {}
    if r.random() < 0.1:
        effect = r.choice(["NoSchedule", "PreferNoSchedule", "NoExecute"])
        spec["taints"] = [{"key": "spot", "value": "true", "effect": effect}]
    found = {**labels, "block": block, "rack": rack, HOST: name, "gpu": f"g{r.randint(0, 1)}"}
    scenario["nodes"].append(
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": found},
            "spec": spec,
            "status": {
                "allocatable": allocatable,
                "conditions": [{"type": "Ready", "status": "True"}],
            },
        }
    )
    if r.random() < 0.2:
        requests = {"cpu": "500m", "memory": "1Gi"}
        container = {"name": "c", "image": "i", "resources": {"requests": requests}}
        scenario["pods"].append(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": f"of-{name}", "namespace": "kube-system"},
                "spec": {"nodeName": name, "containers": [container]},
                "status": {"phase": "Running"},
            }
        )


def _request(r: random.Random, levels: tuple[str, ...], count: int) -> Data:
    level = r.choice(levels) if r.random() < 0.97 else "missing"
    kind = r.choice(["required", "preferred", "unconstrained", "unconstrained", "slices"])
    if kind == "unconstrained":
        return {"unconstrained": True}
    found: Data = {}
    if kind != "slices" or r.random() < 0.5:
        found[r.choice(["required", "preferred"]) if kind == "slices" else kind] = level
    if kind == "slices":
        sizes = [it for it in range(1, count + 1) if count % it == 0]
        below = levels[levels.index(level) :] if level in levels else levels
        found["podSetSliceRequiredTopology"] = r.choice(below if found else levels)
        found["podSetSliceSize"] = r.choice(sizes)
    return found


def used(scenario: Data) -> dict[str, dict[str, int]]:
    """What the pods use, by node, in Kueue's units."""
    return {
        it["spec"]["nodeName"]: {"cpu": 500, "memory": 2**30, "pods": 1}
        for it in scenario.get("pods", ())
    }
