"""policygen's filters of nodes against the real kube-scheduler: drawn pods on drawn nodes.

Each pod is scheduled, or refused with the number of nodes for each reason. Pods are small beside
the nodes that take them, so nodes count as empty. POLICYGEN_FILTER_SEEDS="1 2 3" runs other seeds.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from random import Random
from typing import Any

import pytest

from policygen.core.finding import At
from policygen.kubernetes.cluster import Cluster as Read
from policygen.kubernetes.node_filters import Demand, demand, misses
from policygen.kubernetes.node_groups import Node, NodeSet
from policygen.kubernetes.object import Object
from policygen.kubernetes.scheduler_reasons import first_reasons
from tests.servers.client import Object as Data
from tests.servers.cluster import Cluster
from tests.servers.nodes import Shape, add_nodes

SEEDS = [int(seed) for seed in os.environ.get("POLICYGEN_FILTER_SEEDS", "14").split()]
NODES, PODS = 30, 250
KEYS = {
    "pool": ("a100", "A100", "h100", "x"),
    "gen": ("7", "8", "12", "x", "1_0", "99999999999999999999"),
    "zone": ("a", "b", "c"),
    "example.com/spot": ("true", "yes", ""),
}
TAINTS = [("gpu", "present"), ("gpu", ""), ("team", "a"), ("team", "b"), ("spot", "")]
EFFECTS = ("NoSchedule", "NoExecute", "PreferNoSchedule")
GPU, HUGE = "nvidia.com/gpu", "hugepages-2Mi"
LARGE = 10**9
SMALL = {"cpu": "1m", "memory": "1Ki", "ephemeral-storage": "1Ki", GPU: "1", "amd.com/gpu": "1"}
"""Of pods that fit where there is any."""
MUCH = {"cpu": "5k", "memory": "100Ti", "ephemeral-storage": "50Ti", GPU: "5000", HUGE: "2Mi"}
SIZES: dict[str, tuple[str, ...]] = {
    "cpu": ("1k", "100k", "10M"),
    "memory": ("50Ti", "9Ei"),
    "ephemeral-storage": ("1Ti", "9Ei"),
    "pods": ("0", "5000", "5000", "5000"),
}
REASONS = re.compile(r"(\d+) (.+?)(?=, \d+ |$)")


@pytest.mark.parametrize("seed", SEEDS)
def test_filters_agree_with_kube_scheduler(cluster: Cluster, seed: int) -> None:
    random = Random(seed)
    shapes = {f"node-{i}": draw_node(random) for i in range(NODES)}
    add_nodes(cluster.client, shapes)
    cordoned = list(shapes)[:3]
    for name in cordoned:
        cluster.patch("v1", "Node", name, {"spec": {"unschedulable": True}})
    cluster.until("cordoned", lambda: all(map(tainted, nodes_of(cluster, cordoned))))
    nodes = NodeSet(read(nodes_of(cluster)))
    pods = [draw_pod(random, number) for number in range(PODS)]
    cluster.create(*pods)
    cluster.until("decided", lambda: all(map(decided, cluster.pods("draws"))), 120)
    found = {pod["metadata"]["name"]: pod for pod in cluster.pods("draws")}
    assert len(found) == PODS
    wrong = []
    scheduled = 0
    for pod in pods:
        name = pod["metadata"]["name"]
        node = found[name]["spec"].get("nodeName")
        accepts, refuses = expected(pod, nodes)
        scheduled += bool(node)
        if node is not None:
            if node not in accepts:
                wrong.append((name, pod["spec"], f"on {node}", dict(refuses)))
        elif accepts or (counts(found[name]) != refuses and not names_nodes(pod)):
            wrong.append((name, pod["spec"], message(found[name]), accepts, dict(refuses)))
    print(f"seed {seed}: {PODS} pods, {scheduled} scheduled, {len(wrong)} differences")
    assert not wrong, wrong[:3]
    assert PODS // 5 < scheduled < PODS * 4 // 5


def draw_node(random: Random) -> Shape:
    extended = {}
    if random.random() < 0.6:
        extended[GPU] = random.choice((1000, LARGE))
    if random.random() < 0.1:
        extended["amd.com/gpu"] = LARGE
    labels = {key: random.choice(values) for key, values in KEYS.items() if random.random() < 0.7}
    taints = {
        key: {"key": key, "value": value, "effect": random.choice(EFFECTS)}
        for key, value in random.sample(TAINTS, random.choice((0, 0, 0, 1, 1, 2)))
    }
    native = {name: random.choice(amounts) for name, amounts in SIZES.items()}
    return Shape(
        gpus=0,
        cpu=native["cpu"],
        memory=native["memory"],
        pods=native["pods"],
        labels=labels,
        taints=list(taints.values()),
        extended={**extended, "ephemeral-storage": native["ephemeral-storage"]},  # type: ignore[dict-item] # a quantity
    )


def draw_pod(random: Random, number: int) -> Data:
    name = f"pod-{number}"
    spec: Data = {"restartPolicy": "Never"}
    resources = {
        key: random.choice((SMALL.get(key, "0"), SMALL.get(key, "0"), MUCH.get(key, "0")))
        for key in random.sample(sorted({*SMALL, *MUCH}), random.choice((0, 1, 2, 2, 3)))
    }
    if HUGE in resources:  # a server accepts it only beside cpu or memory
        resources.setdefault("cpu", "1m")
    container = {"name": "main", "image": "example.com/image:1"}
    spec["containers"] = [{**container, "resources": {"requests": resources, "limits": resources}}]
    if random.random() < 0.3:
        spec["initContainers"] = [
            {
                **container,
                "name": "init",
                "resources": {"requests": {"cpu": random.choice(("1m", "5k"))}},
            }
        ]
    if random.random() < 0.45:
        key = random.choice(sorted(KEYS))
        spec["nodeSelector"] = {key: random.choice(KEYS[key])}
    affinity: Data = {}
    if random.random() < 0.4:
        terms = [draw_term(random) for _ in range(random.choice((1, 1, 2, 3)))]
        required = "requiredDuringSchedulingIgnoredDuringExecution"
        affinity["nodeAffinity"] = {required: {"nodeSelectorTerms": terms}}
    mine = {"matchLabels": {"pod": name}}
    if random.random() < 0.1:
        term = {"labelSelector": mine, "topologyKey": random.choice(("zone", "rack"))}
        affinity["podAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    if affinity:
        spec["affinity"] = affinity
    if random.random() < 0.15:
        spec["topologySpreadConstraints"] = [
            {
                "maxSkew": random.choice((1, 2)),
                "topologyKey": random.choice(("zone", "gen", "kubernetes.io/hostname")),
                "whenUnsatisfiable": random.choice(("DoNotSchedule", "ScheduleAnyway")),
                "labelSelector": mine,
            }
        ]
    if random.random() < 0.6:
        spec["tolerations"] = [draw_toleration(random) for _ in range(random.choice((1, 2, 3)))]
    metadata = {"name": name, "namespace": "draws", "labels": {"pod": name}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def draw_term(random: Random) -> Data:
    term: Data = {}
    if random.random() < 0.9:
        term["matchExpressions"] = [
            draw_expression(random) for _ in range(random.choice((1, 1, 2)))
        ]
    if random.random() < 0.15:
        names = [f"node-{random.randrange(NODES + 2)}"]
        operator = random.choice(("In", "NotIn"))
        term["matchFields"] = [{"key": "metadata.name", "operator": operator, "values": names}]
    return term


def draw_expression(random: Random) -> Data:
    key = random.choice(sorted(KEYS))
    operator = random.choice(("In", "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"))
    if operator in ("Gt", "Lt"):
        return {"key": "gen", "operator": operator, "values": [random.choice(("7", "10", "0"))]}
    if operator in ("Exists", "DoesNotExist"):
        return {"key": key, "operator": operator}
    values = random.sample(KEYS[key], random.choice((1, 2)))
    return {"key": key, "operator": operator, "values": values}


def draw_toleration(random: Random) -> Data:
    key, value = random.choice([*TAINTS, ("", ""), ("node.kubernetes.io/unschedulable", "")])
    toleration: Data = {"effect": random.choice((*EFFECTS, ""))}
    if not key or random.random() < 0.5:
        return {**toleration, "operator": "Exists", **({"key": key} if key else {})}
    return {**toleration, "key": key, "value": value, "operator": random.choice(("Equal", ""))}


def read(nodes: list[Data]) -> list[Node]:
    """The nodes of the server as the filters see them."""
    head = {"apiVersion": "v1", "kind": "Node"}  # which items of a list do not have
    objects = [Object.read({**head, **data}, At(i)) for i, data in enumerate(nodes)]
    return [
        Node(
            name=entry.name,
            labels=entry.labels,
            taints=entry.fields.spec.taints,
            allocatable=entry.fields.status.allocatable,
            unschedulable=entry.fields.spec.unschedulable,
        )
        for entry in Read(it for it in objects if it).nodes
    ]


def expected(pod: Data, nodes: NodeSet) -> tuple[set[str], Counter[str]]:
    """The nodes that take a pod, and how many refuse it for each reason."""
    it = demand_of(pod)
    accepts: set[str] = set()
    refuses: Counter[str] = Counter()
    for group in nodes.groups(it.keys | {"metadata.name"}):
        if missed := misses(it, group):
            refuses.update(first_reasons(missed))
        else:
            accepts.update(node.name for node in group.nodes)
    grouped = {
        node.name
        for group in nodes.groups(it.keys)
        if not misses(it, group)
        for node in group.nodes
    }
    assert accepts <= grouped
    return accepts, refuses


def demand_of(pod: Data) -> Demand:
    (workload,) = Read([object_of(pod)]).workloads
    (template,) = workload.templates
    return demand(template.spec, template.spec.requests)


def object_of(data: Data) -> Object:
    found = Object.read(data, At(0))
    assert found
    return found


def nodes_of(cluster: Cluster, names: list[str] | None = None) -> list[Data]:
    return [
        node
        for node in cluster.objects("v1", "Node")
        if names is None or node["metadata"]["name"] in names
    ]


def tainted(node: Data) -> bool:
    taints = node["spec"].get("taints", [])
    return any(it["key"] == "node.kubernetes.io/unschedulable" for it in taints)


def condition(pod: Data) -> dict[str, Any]:
    found = pod.get("status", {}).get("conditions", [])
    return next((it for it in found if it["type"] == "PodScheduled"), {})


def decided(pod: Data) -> bool:
    return "nodeName" in pod["spec"] or condition(pod).get("reason") == "Unschedulable"


def message(pod: Data) -> str:
    return str(condition(pod).get("message"))


def counts(pod: Data) -> Counter[str]:
    """The number of nodes by reason in the message of the scheduler."""
    text = message(pod).partition(" nodes are available: ")[2]
    reasons = re.split(r"\. (?:no new claims|preemption:)|\.$", text)[0]
    return Counter({reason: int(number) for number, reason in REASONS.findall(reasons)})


def names_nodes(pod: Data) -> bool:
    """Whether it has matchFields, by which kube-scheduler excludes nodes before it counts reasons."""
    return "matchFields" in str(pod["spec"])
