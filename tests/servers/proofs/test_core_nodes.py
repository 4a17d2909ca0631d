"""Pods for which the nodes have no room, and GPUs that stay idle; without any queue."""

from __future__ import annotations

import pytest

from tests.examples_of_rules import examples
from tests.servers.cluster import Cluster
from tests.servers.nodes import Shape
from tests.servers.pages import bad, good
from tests.servers.proofs.examples import add_nodes, apply, documents, scene, shape, show
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


def test_autoscaler_exceeds_nodes(cluster: Cluster) -> None:
    """At the maximum of the autoscaler, which keeps the replicas as long as no metrics exist."""
    rule, detector = "autoscaler-exceeds-nodes", ("apps/v1", "Deployment", "detector")
    add_nodes(cluster, bad(rule))
    for name, text, most in (("good", good(rule), 4), ("bad", bad(rule), 6)):
        show(cluster, scene(text, name))
        cluster.patch(*detector, {"spec": {"replicas": most}}, name)
        cluster.becomes(name, lambda n=name: placed(cluster, n), (4, most - 4))
        cluster.stays(name, lambda n=name: placed(cluster, n), (4, most - 4), for_s=1)
        cluster.delete(*detector, name)
        cluster.becomes("deleted", lambda n=name: placed(cluster, n), (0, 0))


@pytest.mark.parametrize(
    ("number", "without", "fixed"), [(0, (0, 0), (1, 0)), (1, (1, 1), (2, 0)), (2, (0, 0), None)]
)
def test_daemon_set_without_node(
    cluster: Cluster, number: int, without: tuple[int, int], fixed: tuple[int, int] | None
) -> None:
    """A taint, a small node, and a misspelled label: the controller creates no pod, or one that waits."""
    rule = "daemon-set-without-node"
    add_nodes(cluster, bad(rule, number))
    shown = scene(bad(rule, number), "bad")
    apply(cluster, [it for it in documents(shown) if it["kind"] == "DaemonSet"])

    def wanted() -> bool:
        status = cluster.get("apps/v1", "DaemonSet", "dcgm-exporter", "bad").get("status", {})
        return bool(status.get("observedGeneration"))

    cluster.until("the controller has seen it", wanted)
    cluster.becomes("bad", lambda: placed(cluster, "bad"), without)
    cluster.stays("bad", lambda: placed(cluster, "bad"), without, for_s=1)
    if fixed is not None:
        other = scene(good(rule, number), "good")
        apply(cluster, [it for it in documents(other) if it["kind"] == "DaemonSet"])
        cluster.becomes("good", lambda: placed(cluster, "good"), fixed)


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


@pytest.mark.parametrize(("number", "others"), [(0, 0), (1, 0), (2, 4)])
def test_rollout_exceeds_nodes(cluster: Cluster, number: int, others: int) -> None:
    """The new pod waits for the old ones, which wait for the new pod; also beside pods of another Deployment."""
    rule = "rollout-exceeds-nodes"
    add_nodes(cluster, bad(rule, number))
    every = 2 + others
    for text, namespace, end in (
        (bad(rule, number), "bad", (every, 1)),
        (good(rule, number), "good", (every, 0)),
    ):
        show(cluster, scene(text, namespace))
        cluster.becomes(
            "all run", lambda namespace=namespace: placed(cluster, namespace), (every, 0)
        )
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
        if others:
            cluster.delete("apps/v1", "Deployment", "detector", namespace)
        cluster.becomes("deleted", lambda namespace=namespace: placed(cluster, namespace), (0, 0))


@pytest.mark.parametrize(
    ("number", "bad_pods", "good_pods"), [(0, (3, 1), (4, 0)), (1, (2, 1), (2, 0))]
)
def test_job_exceeds_free_nodes(
    cluster: Cluster, number: int, bad_pods: tuple[int, int], good_pods: tuple[int, int]
) -> None:
    """Serving pods run first, and a pod of the Job finds no node with enough GPUs."""
    rule = "job-exceeds-free-nodes"
    add_nodes(cluster, bad(rule, number))
    for text, name, end in (
        (bad(rule, number), "bad", bad_pods),
        (good(rule, number), "good", good_pods),
    ):
        job, serving = (
            [it for it in documents(scene(text, name)) if it["kind"] == kind]
            for kind in ("Job", "Deployment")
        )
        apply(cluster, serving)
        count = serving[0]["spec"]["replicas"]
        cluster.becomes("serving", lambda name=name: placed(cluster, name), (count, 0))
        apply(cluster, job)
        cluster.becomes(name, lambda name=name: placed(cluster, name), end)
        cluster.stays(name, lambda name=name: placed(cluster, name), end, for_s=1)
        cluster.delete("batch/v1", "Job", "embed", name)
        cluster.delete("apps/v1", "Deployment", "chat", name)
        cluster.becomes("deleted", lambda name=name: placed(cluster, name), (0, 0))


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


def test_affinity_value_misspelt(cluster: Cluster) -> None:
    """A DaemonSet for two kinds of nodes runs on one of them."""
    rule = "affinity-value-misspelt"
    add_nodes(cluster, bad(rule))
    show(cluster, scene(bad(rule), "bad"), scene(good(rule), "good"))
    cluster.becomes("good", lambda: placed(cluster, "good"), (2, 0))
    cluster.becomes("bad", lambda: placed(cluster, "bad"), (1, 0))
    cluster.stays("bad", lambda: placed(cluster, "bad"), (1, 0), for_s=1)


def test_toleration_value_misspelt(cluster: Cluster) -> None:
    """The second pod waits, although the tainted node is empty."""
    rule = "toleration-value-misspelt"
    add_nodes(cluster, bad(rule))
    for name, text, end in (("bad", bad(rule), (1, 1)), ("good", good(rule), (2, 0))):
        show(cluster, scene(text, name).replace("replicas: 1", "replicas: 2"))
        cluster.becomes(name, lambda n=name: placed(cluster, n), end)
        cluster.stays(name, lambda n=name: placed(cluster, n), end, for_s=1)
        cluster.delete(*LLM, name)
        cluster.becomes("deleted", lambda n=name: placed(cluster, n), (0, 0))


@pytest.mark.parametrize("number", [0, 1])
def test_gpu_nodes_closed(cluster: Cluster, number: int) -> None:
    """A taint that no pod tolerates, and a cordon: the second node stays empty until it is removed."""
    rule = "gpu-nodes-closed"
    for it in documents(bad(rule, number)):
        if it["kind"] == "Node":
            [name] = cluster.add_nodes(shape(it), prefix=it["metadata"]["name"])
            if it["spec"].get("unschedulable"):
                cluster.patch("v1", "Node", name, {"spec": {"unschedulable": True}})
    show(cluster, scene(bad(rule, number), "bad").replace("replicas: 1", "replicas: 2"))
    cluster.becomes("bad", lambda: placed(cluster, "bad"), (1, 1))
    cluster.stays("bad", lambda: placed(cluster, "bad"), (1, 1), for_s=1)
    cluster.patch("v1", "Node", name, {"spec": {"unschedulable": None, "taints": None}})
    cluster.becomes("good", lambda: placed(cluster, "bad"), (2, 0))


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


def test_volume_claim_not_shared(cluster: Cluster) -> None:
    """One of two pods runs with a claim for one pod; with a claim for one node, both run on it."""
    rule = "volume-claim-not-shared"
    cluster.add_nodes(Shape(), 2)
    for text, name, mode, end in (
        (bad(rule, 1), "bad", "ReadWriteOncePod", (1, 1)),
        (good(rule, 1), "good", "ReadWriteOnce", (2, 0)),
    ):
        volume = {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": name},
            "spec": {
                "accessModes": [mode],
                "capacity": {"storage": "500Gi"},
                "csi": {"driver": "example.com", "volumeHandle": name},
                "claimRef": {"namespace": name, "name": "cache"},
            },
        }
        cluster.create(volume)
        show(cluster, scene(text, name))
        cluster.becomes(name, lambda name=name: placed(cluster, name), end)
        cluster.stays(name, lambda name=name: placed(cluster, name), end, for_s=1)
