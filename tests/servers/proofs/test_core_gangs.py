"""Gangs that Volcano never starts, since their pods are not created together, and their queues."""

from __future__ import annotations

from tests.servers.cluster import SCHEDULING, Cluster
from tests.servers.nodes import Shape
from tests.servers.pages import bad, good
from tests.servers.proofs.examples import scene, show
from tests.servers.proofs.test_core_quotas import updated

CHANGE = {"spec": {"template": {"metadata": {"annotations": {"build": "2"}}}}}


def test_gang_starts_in_order(cluster: Cluster) -> None:
    """Pod 0 waits for pods that are made when it is ready."""
    rule = "gang-starts-in-order"
    cluster.add_nodes(Shape(), 1)
    show(cluster, scene(bad(rule), "bad"), scene(good(rule), "good"))
    cluster.becomes("good", lambda: cluster.bound("good"), 4)
    cluster.stays("bad", lambda: len(cluster.pods("bad")), 1, for_s=1)
    assert cluster.bound("bad") == 0


def test_gang_rolling_update(cluster: Cluster) -> None:
    """A change: its first pods wait for a gang, although 8 GPUs are free."""
    rule = "gang-rolling-update"
    cluster.add_nodes(Shape(), 2)
    show(cluster, scene(bad(rule), "bad"), scene(good(rule), "good"))
    for name in ("bad", "good"):
        cluster.becomes(f"{name} runs", lambda n=name: cluster.bound(n), 4)
        cluster.becomes("ready", lambda n=name: _ready(cluster, n), 4)
        cluster.patch("apps/v1", "Deployment", "training", CHANGE, name)
    cluster.becomes("good", lambda: updated(cluster, "good", "training"), 4)
    cluster.becomes("good", lambda: cluster.bound("good"), 4)
    cluster.becomes("bad waits", lambda: len(cluster.waiting("bad")), 2)
    cluster.stays("bad waits", lambda: len(cluster.waiting("bad")), 2, for_s=1)
    assert updated(cluster, "bad", "training") == 2


def test_namespace_queue_ignored(cluster: Cluster) -> None:
    rule = "namespace-queue-ignored"
    show(cluster, scene(bad(rule), "bad"), scene(good(rule), "good"))
    for name, queue in (("bad", "default"), ("good", "good")):
        cluster.until("a PodGroup", lambda n=name: cluster.objects(SCHEDULING, "PodGroup", n))
        [group] = cluster.objects(SCHEDULING, "PodGroup", name)
        assert group["spec"]["queue"] == queue


def _ready(cluster: Cluster, namespace: str) -> int:
    status = cluster.get("apps/v1", "Deployment", "training", namespace).get("status", {})
    return int(status.get("readyReplicas", 0))
