"""Pods for which the nodes have no room, and GPUs that stay idle; without any queue."""

from __future__ import annotations

import pytest

from tests.examples_of_rules import examples
from tests.servers.cluster import Cluster
from tests.servers.pages import bad, good
from tests.servers.proofs.examples import add_nodes, documents, scene, shape, show
from tests.servers.workloads import Ask, pod

LLM = ("apps/v1", "Deployment", "llm")


def placed(cluster: Cluster, namespace: str) -> tuple[int, int]:
    """Pods on nodes, and pods without a node."""
    pods = cluster.pods(namespace)  # one answer, so that both numbers are of one moment
    on_nodes = sum("nodeName" in pod["spec"] for pod in pods)
    return on_nodes, len(pods) - on_nodes


@pytest.mark.parametrize(
    ("number", "on_nodes", "fixed"),
    [(0, (2, 1), 2), (1, (2, 1), 2), (2, (2, 2), 4), (3, (2, 1), 3)],
)
def test_replicas_exceed_nodes(
    cluster: Cluster, number: int, on_nodes: tuple[int, int], fixed: int
) -> None:
    """Too few GPUs, too few hosts, a rack that counts although it is tainted, and one full host."""
    rule = "replicas-exceed-nodes"
    add_nodes(cluster, bad(rule, number))
    show(cluster, scene(bad(rule, number), "bad"))
    cluster.becomes("bad", lambda: placed(cluster, "bad"), on_nodes)
    cluster.stays("bad", lambda: placed(cluster, "bad"), on_nodes, for_s=1)
    cluster.delete(*LLM, "bad")
    cluster.becomes("deleted", lambda: placed(cluster, "bad"), (0, 0))
    show(cluster, scene(good(rule, number), "good"))
    cluster.becomes("good", lambda: placed(cluster, "good"), (fixed, 0))


@pytest.mark.parametrize("number", range(len(examples("workloads-exceed-nodes", good=False))))
def test_workloads_exceed_nodes(cluster: Cluster, number: int) -> None:
    """Each of two nodes has room for one of the three large pods, in any order."""
    rule = "workloads-exceed-nodes"
    add_nodes(cluster, bad(rule, number))
    show(cluster, scene(bad(rule, number), "bad"))
    cluster.becomes("bad", lambda: placed(cluster, "bad"), (2, 1))
    cluster.stays("bad", lambda: placed(cluster, "bad"), (2, 1), for_s=1)
    for it in documents(bad(rule, number)):
        if it["kind"] == "Deployment":
            cluster.delete("apps/v1", "Deployment", it["metadata"]["name"], "bad")
    cluster.becomes("deleted", lambda: placed(cluster, "bad"), (0, 0))
    show(cluster, scene(good(rule, number), "good"))
    cluster.becomes("good", lambda: placed(cluster, "good"), (2, 0))


@pytest.mark.parametrize("number", range(len(examples("rollout-exceeds-nodes", good=False))))
def test_rollout_exceeds_nodes(cluster: Cluster, number: int) -> None:
    """The new pod waits for the old ones, which wait for the new pod."""
    rule = "rollout-exceeds-nodes"
    add_nodes(cluster, bad(rule, number))
    for text, namespace, end in (
        (bad(rule, number), "bad", (2, 1)),
        (good(rule, number), "good", (2, 0)),
    ):
        show(cluster, scene(text, namespace))
        cluster.becomes("both run", lambda namespace=namespace: placed(cluster, namespace), (2, 0))
        cluster.until("ready", lambda namespace=namespace: ready(cluster, namespace) == 2)
        change = {"spec": {"template": {"metadata": {"labels": {"release": "2"}}}}}
        cluster.patch(*LLM, change, namespace)
        if namespace == "bad":
            cluster.becomes("stuck", lambda: placed(cluster, "bad"), end)
            cluster.stays("stuck", lambda: placed(cluster, "bad"), end, for_s=2)
            assert updated(cluster, "bad") == 0
        else:
            cluster.becomes("updated", lambda: updated(cluster, "good"), 2)
            cluster.becomes("updated", lambda: placed(cluster, "good"), end)
        cluster.delete(*LLM, namespace)
        cluster.becomes("deleted", lambda namespace=namespace: placed(cluster, namespace), (0, 0))


@pytest.mark.parametrize(("number", "used", "fixed"), [(0, 6, 8), (1, 4, 8)])
def test_gpus_left_unusable(cluster: Cluster, number: int, used: int, fixed: int) -> None:
    """As many pods as it takes to fill one node: some of its 8 GPUs stay idle."""
    rule = "gpus-left-unusable"
    node = next(it for it in documents(bad(rule, number)) if it["kind"] == "Node")
    cluster.add_nodes(shape(node))
    for text, namespace, gpus in (
        (bad(rule, number), "bad", used),
        (good(rule, number), "good", fixed),
    ):
        show(cluster, scene(text, namespace))
        cluster.patch(*LLM, {"spec": {"replicas": 9}}, namespace)
        cluster.becomes("GPUs", lambda namespace=namespace: cluster.bound(namespace), gpus)
        cluster.stays("GPUs", lambda namespace=namespace: cluster.bound(namespace), gpus, for_s=1)
        cluster.delete(*LLM, namespace)
        cluster.becomes("deleted", lambda namespace=namespace: placed(cluster, namespace), (0, 0))


@pytest.mark.parametrize("rule", ["gpu-nodes-open", "gpu-nodes-tolerated"])
def test_gpu_nodes_open(cluster: Cluster, rule: str) -> None:
    """Pods without GPUs take the cpu beside the GPUs."""
    ask = Ask(gpus=8, cpu="90", tolerations=[{"operator": "Exists"}])
    for text, namespace, waiting in ((bad(rule), "bad", 1), (good(rule), "good", 0)):
        add_nodes(cluster, text)
        show(cluster, scene(text, namespace))
        cluster.becomes("web", lambda n=namespace: placed(cluster, n), (4, 0))
        cluster.create(pod("train", f"{namespace}-gpu", ask))
        want = (1 - waiting, waiting)
        cluster.becomes("train", lambda n=namespace: placed(cluster, f"{n}-gpu"), want)
        cluster.stays("train", lambda n=namespace: placed(cluster, f"{n}-gpu"), want, for_s=1)
        if namespace == "bad":
            cluster.delete("apps/v1", "Deployment", "web", "bad")
            cluster.delete("v1", "Pod", "train", "bad-gpu")
            for name in ("gpu-1-0", "cpu-1-0"):
                cluster.delete("v1", "Node", name)
            cluster.becomes("deleted", lambda: placed(cluster, "bad"), (0, 0))


def ready(cluster: Cluster, namespace: str) -> int:
    return int(cluster.get(*LLM, namespace).get("status", {}).get("readyReplicas", 0))


def updated(cluster: Cluster, namespace: str) -> int:
    """Ready pods of the new template."""
    status = cluster.get(*LLM, namespace)["status"]
    found = [
        pod
        for pod in cluster.pods(namespace)
        if pod["metadata"]["labels"].get("release") and "nodeName" in pod["spec"]
    ]
    return len(found) if status.get("observedGeneration", 0) > 1 else 0
