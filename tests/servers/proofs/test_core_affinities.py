"""Pods that wait for other pods, or that other pods keep away."""

from __future__ import annotations

import pytest

from tests.examples_of_rules import examples
from tests.servers.cluster import Cluster
from tests.servers.nodes import Shape
from tests.servers.pages import bad, good
from tests.servers.proofs.examples import add_nodes, apply, documents, scene, show


def placed(cluster: Cluster, scene: str) -> tuple[int, int]:
    """Pods on nodes, and pods without a node, in all namespaces of a scene."""
    pods = [
        pod
        for pod in cluster.objects("v1", "Pod")
        if pod["metadata"]["namespace"].partition("-")[0] == scene
    ]
    on_nodes = sum("nodeName" in pod["spec"] for pod in pods)
    return on_nodes, len(pods) - on_nodes


def test_pod_affinity_matches_no_pod(cluster: Cluster) -> None:
    """All examples at once, each with namespaces of its own: some pods of each bad one stay Pending."""
    rule = "pod-affinity-matches-no-pod"
    cluster.add_nodes(Shape(gpus=0), 2)
    waiting = {0: 1, 1: 1, 2: 1, 3: 2, 4: 1}
    assert len(waiting) == len(examples(rule, good=False))
    wanted: dict[str, tuple[int, int]] = {}
    for number, count in waiting.items():
        for text, name, left in (
            (bad(rule, number), "bad", count),
            (good(rule, number), "good", 0),
        ):
            total = sum(it["kind"] == "Deployment" for it in documents(text))
            wanted[f"{name}{number}"] = total - left, left
            show(cluster, scene(text, f"{name}{number}"))
    found = lambda: {name: placed(cluster, name) for name in wanted}
    cluster.becomes("pods", found, wanted)
    cluster.stays("pods", found, wanted, for_s=2)


def test_pod_affinity_on_other_nodes(cluster: Cluster) -> None:
    """A node with room for the pod has no partner, and the partner's node does not take the pod."""
    rule = "pod-affinity-on-other-nodes"
    add_nodes(cluster, bad(rule))
    show(cluster, scene(bad(rule), "bad"), scene(good(rule), "good"))
    found = lambda: {name: placed(cluster, name) for name in ("bad", "good")}
    cluster.becomes("pods", found, {"bad": (1, 1), "good": (2, 0)})
    cluster.stays("pods", found, {"bad": (1, 1), "good": (2, 0)}, for_s=1)


def test_topology_keys_that_no_node_has(cluster: Cluster) -> None:
    """A misspelled key of a hard spread constraint, and of podAffinity."""
    rule = "pod-fits-no-node"
    add_nodes(cluster, bad(rule, 3))
    names = {
        f"{name}{number}": text
        for number in (3, 4)
        for name, text in (("bad", bad(rule, number)), ("good", good(rule, number)))
    }
    show(cluster, *(scene(text, name) for name, text in names.items()))
    found = lambda: {name: placed(cluster, name) for name in names}
    wanted = {name: (0, 1) if name.startswith("bad") else (1, 0) for name in names}
    cluster.becomes("pods", found, wanted)
    cluster.stays("pods", found, wanted, for_s=1)


def test_anti_affinity_excludes_all_nodes(cluster: Cluster) -> None:
    """Beside a DaemonSet, and beside a Deployment with a pod on each node, which start first."""
    rule = "anti-affinity-excludes-all-nodes"
    before = {"bad0": 2, "good0": 2, "bad1": 2, "good1": 1}
    assert len(before) == 2 * len(examples(rule, good=False))
    later = []
    for name in before:
        text = (bad if name.startswith("bad") else good)(rule, int(name[-1]))
        text = text.replace("pool: a100", f"pool: {name}").replace(": gpu-", f": {name}-gpu-")
        add_nodes(cluster, text)
        *first, last = documents(scene(text, name))
        apply(cluster, [it for it in first if it["kind"] != "Node"])
        later.append(last)
    found = lambda: {name: placed(cluster, name) for name in before}
    cluster.becomes("first pods", found, {name: (count, 0) for name, count in before.items()})
    apply(cluster, later)
    wanted = {"bad0": (2, 1), "good0": (3, 0), "bad1": (2, 1), "good1": (2, 0)}
    cluster.becomes("pods", found, wanted)
    cluster.stays("pods", found, wanted, for_s=2)


@pytest.mark.parametrize(("number", "fixed"), [(0, (2, 7)), (1, (5, 4))])
def test_spread_matches_no_pod(cluster: Cluster, number: int, fixed: tuple[int, int]) -> None:
    """Nine replicas on two nodes: all run, or as many as the constraint allows."""
    rule = "spread-matches-no-pod"
    add_nodes(cluster, bad(rule, number))
    for name, text, wanted in (("bad", bad, (9, 0)), ("good", good, fixed)):
        show(cluster, scene(text(rule, number).replace("replicas: 2", "replicas: 9"), name))
        cluster.becomes(name, lambda n=name: placed(cluster, n), wanted)
        cluster.stays(name, lambda n=name: placed(cluster, n), wanted, for_s=1)
        cluster.delete("apps/v1", "Deployment", "server", name)
        cluster.becomes("deleted", lambda n=name: placed(cluster, n), (0, 0))


def test_anti_affinity_without_domain(cluster: Cluster) -> None:
    """Nine replicas that repel each other on two nodes of 8 GPUs: each runs, or one for each node."""
    rule = "anti-affinity-without-domain"
    add_nodes(cluster, bad(rule))
    texts = {"bad": bad(rule), "good": good(rule)}
    nine = (scene(it.replace("replicas: 2", "replicas: 9"), name) for name, it in texts.items())
    show(cluster, *nine)
    found = lambda: {name: placed(cluster, name) for name in texts}
    cluster.becomes("pods", found, {"bad": (9, 0), "good": (2, 7)})
    cluster.stays("pods", found, {"bad": (9, 0), "good": (2, 7)}, for_s=1)
