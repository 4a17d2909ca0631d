"""Labels, annotations and fields of these pages have no effect, or another effect than they look."""

from __future__ import annotations

from typing import Any

from tests.servers.client import Object
from tests.servers.cluster import KUEUE, Cluster
from tests.servers.nodes import Shape
from tests.servers.pages import bad, good
from tests.servers.proofs.examples import scene, show

A100 = Shape(labels={"pool": "a100"})


def workloads(cluster: Cluster, namespace: str) -> list[Object]:
    """The specs of a namespace's Workloads."""
    return [it["spec"] for it in cluster.objects(KUEUE, "Workload", namespace)]


def test_workload_key_unknown(cluster: Cluster) -> None:
    """Without the right label the Job runs without a Workload."""
    rule = "workload-key-unknown"
    show(cluster, *(scene(bad(rule, i), f"bad-{i}") for i in range(2)), scene(good(rule), "good"))
    for name in ("bad-0", "bad-1"):
        cluster.becomes("pods", lambda name=name: len(cluster.pods(name)), 1)
        [started] = cluster.objects("batch/v1", "Job", name)
        assert not started["spec"]["suspend"]
    cluster.becomes("good", lambda: len(workloads(cluster, "good")), 1)
    for name in ("bad-0", "bad-1"):
        cluster.stays("Workloads", lambda name=name: workloads(cluster, name), [], for_s=0.5)


def test_kueue_key_misplaced(cluster: Cluster) -> None:
    """What is written elsewhere does not come to the Workload."""
    rule = "kueue-key-misplaced"
    scenes = {
        name: scene(text, name, "a100", "racks")
        for i in range(3)
        for name, text in ((f"bad-{i}", bad(rule, i)), (f"good-{i}", good(rule, i)))
    }
    show(cluster, *scenes.values())
    found = [
        lambda it: it["podSets"][0].get("topologyRequest", {}).get("required"),
        lambda it: it.get("maximumExecutionTimeSeconds"),
        lambda it: it["podSets"][0].get("minCount"),
    ]
    for i, (read, want) in enumerate(zip(found, ("cloud.example.com/rack", 5, 1), strict=True)):
        for name, expected in ((f"good-{i}", want), (f"bad-{i}", None)):
            cluster.becomes(name, lambda name=name: len(workloads(cluster, name)), 1)
            assert read(workloads(cluster, name)[0]) == expected, name


def test_managed_by_unknown(cluster: Cluster) -> None:
    """Kueue admits the Job and charges its quota, but no controller creates its pods."""
    rule = "managed-by-unknown"
    cluster.add_nodes(A100, 1, prefix="a100")
    names = ["bad-0", "bad-1"]
    show(
        cluster, *(scene(bad(rule, i), it) for i, it in enumerate(names)), scene(good(rule), "good")
    )
    for name in (*names, "good"):
        cluster.becomes("admitted", lambda name=name: cluster.admitted(name), ["train"])
    cluster.becomes("good", lambda: len(cluster.pods("good")), 1)
    for name in names:
        cluster.stays("pods", lambda name=name: cluster.pods(name), [], for_s=1)


def test_pod_group_inconsistent(cluster: Cluster) -> None:
    """The group waits forever, or loses pods; the good one runs."""
    rule = "pod-group-inconsistent"
    cluster.add_nodes(A100, 1, prefix="a100")
    names = ["bad-0", "bad-1", "bad-2"]
    show(
        cluster, *(scene(bad(rule, i), it) for i, it in enumerate(names)), scene(good(rule), "good")
    )
    cluster.becomes("good", lambda: cluster.bound("good"), 2)
    cluster.becomes("left", lambda: len(alive(cluster, "bad-2")), 1)
    for name in ("bad-0", "bad-1"):
        cluster.stays("bound", lambda name=name: cluster.bound(name), 0, for_s=1)


def alive(cluster: Cluster, namespace: str) -> list[Any]:
    return [it["metadata"]["name"] for it in cluster.pods(namespace)]
