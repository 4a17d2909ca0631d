"""How many equal pods run at once, drawn, against the real kube-scheduler.

Each case has its own nodes and namespace. POLICYGEN_FILTER_SEEDS="1 2 3" runs other seeds.
"""

from __future__ import annotations

from collections import Counter
from copy import deepcopy
from random import Random

import pytest

from policygen.kubernetes.cluster import Cluster as Read
from policygen.kubernetes.node_domains import EqualPods, room
from policygen.kubernetes.node_filters import demand
from policygen.kubernetes.node_groups import NodeSet
from policygen.kubernetes.node_index import NodeIndex
from tests.servers.client import Object as Data
from tests.servers.cluster import Cluster
from tests.servers.nodes import Shape, add_nodes
from tests.servers.test_node_filters import SEEDS, nodes_of, object_of, read

CASES, NODES, PODS = 20, 5, 9
GPU = "nvidia.com/gpu"
HOST = "kubernetes.io/hostname"


@pytest.mark.parametrize("seed", SEEDS)
def test_rooms_agree_with_kube_scheduler(cluster: Cluster, seed: int) -> None:
    random = Random(seed)
    shapes = {
        f"c{case}-n{i}": draw_node(random, case) for case in range(CASES) for i in range(NODES)
    }
    add_nodes(cluster.client, shapes)
    nodes = NodeSet(read(nodes_of(cluster)))
    pods = [draw_pod(random, case) for case in range(CASES)]
    want = {f"c{case}": expected(pod, nodes) for case, pod in enumerate(pods)}
    cluster.create(*(named(pod, i) for pod in pods for i in range(PODS)))
    print(f"seed {seed}: {Counter(want.values())}")
    cluster.becomes("pods on nodes", lambda: placed(cluster), want, 60)
    cluster.stays("pods on nodes", lambda: placed(cluster), want, for_s=2)
    assert any(0 < pods < PODS for pods in want.values())


def draw_node(random: Random, case: int) -> Shape:
    labels = {"case": f"c{case}"}
    for key in ("zone", "rack"):
        if random.random() < 0.9:
            labels[key] = random.choice("abc")
    taints = [{"key": "gpu", "value": "", "effect": "NoSchedule"}] if random.random() < 0.2 else []
    return Shape(gpus=random.choice((1, 2, 4, 8)), labels=labels, taints=taints)


def draw_pod(random: Random, case: int) -> Data:
    limits = {GPU: str(random.choice((1, 2)))}
    container = {"name": "main", "image": "example.com/a:1", "resources": {"limits": limits}}
    spec: Data = {"nodeSelector": {"case": f"c{case}"}, "containers": [container]}
    if random.random() < 0.2:
        spec["tolerations"] = [{"operator": "Exists"}]
    selector = {"matchLabels": {"app": "a"}}
    kind = random.choice(("spread", "spread", "apart", "plain"))
    if kind == "apart":
        term = {"topologyKey": random.choice(("zone", "rack", HOST)), "labelSelector": selector}
        required = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
        spec["affinity"] = {"podAntiAffinity": required}
    if kind == "spread":
        constraint = {
            "maxSkew": random.choice((1, 2)),
            "topologyKey": random.choice(("zone", "rack", HOST)),
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": selector,
        }
        if random.random() < 0.3:
            constraint["minDomains"] = random.choice((2, 3, 4))
        if random.random() < 0.3:
            constraint["nodeTaintsPolicy"] = random.choice(("Honor", "Ignore"))
        spec["topologySpreadConstraints"] = [constraint]
    if kind == "plain" and random.random() < 0.5:
        port = {
            "containerPort": 80,
            "hostPort": 8000 + case,
            "protocol": random.choice(("TCP", "UDP")),
        }
        spec["containers"] = [{**container, "ports": [port]}]
    metadata = {"name": "pod", "namespace": f"c{case}", "labels": {"app": "a"}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def named(pod: Data, number: int) -> Data:
    made = deepcopy(pod)
    made["metadata"]["name"] = f"pod-{number}"
    return made


def expected(pod: Data, nodes: NodeSet) -> int:
    """The pods that run, of PODS."""
    (workload,) = Read([object_of(pod)]).workloads
    (template,) = workload.templates
    it = demand(template.spec, template.spec.requests)
    found = room(EqualPods(template.spec, template.labels, it), NodeIndex(nodes), PODS)
    return PODS if found is None else found.pods


def placed(cluster: Cluster) -> dict[str, int]:
    """The pods on nodes, by namespace."""
    found = Counter(
        pod["metadata"]["namespace"] for pod in cluster.pods() if "nodeName" in pod["spec"]
    )
    return {f"c{case}": found[f"c{case}"] for case in range(CASES)}
