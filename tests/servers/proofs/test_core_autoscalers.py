"""HorizontalPodAutoscalers that never scale. The test writes metrics in place of a metrics server."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from tests.servers.client import Object
from tests.servers.cluster import Cluster
from tests.servers.nodes import Shape
from tests.servers.pages import bad, good
from tests.servers.proofs.examples import conditions, documents, scene, show
from tests.servers.proofs.kinds import known

HPA = "autoscaling/v2", "HorizontalPodAutoscaler", "detector"


@pytest.fixture
def metrics(cluster: Cluster) -> Iterator[Cluster]:
    """A cluster that serves metrics.k8s.io."""
    with known(cluster, "metrics.k8s.io/v1beta1", "PodMetrics", "pods"):
        yield cluster


def test_autoscaler_on_gpu(metrics: Cluster) -> None:
    """Pods report all of their cpu, and a GPU if someone would ask: only cpu scales."""
    rule = "autoscaler-on-gpu"
    metrics.add_nodes(Shape(gpus=16), 1)
    [_, detector] = documents(good("autoscaler-without-target"))
    resources = detector["spec"]["template"]["spec"]["containers"][0]["resources"]
    resources["requests"] = {"cpu": "1"}
    for name, text in (("bad", bad(rule)), ("good", good(rule, 1))):
        metrics.create({**detector, "metadata": {"name": "detector", "namespace": name}})
        metrics.becomes("ready", lambda name=name: _replicas(metrics, name, "readyReplicas"), 1)
        [pod] = metrics.pods(name)
        metrics.create(_usage(pod))
        show(metrics, scene(text, name))
    metrics.until("good", lambda: _replicas(metrics, "good", "replicas") > 1)
    metrics.becomes(
        "bad", lambda: _reason(metrics, "bad", "ScalingActive"), "FailedGetResourceMetric"
    )
    assert _replicas(metrics, "bad", "replicas") == 1


def test_autoscaler_without_target(cluster: Cluster) -> None:
    rule = "autoscaler-without-target"
    show(cluster, scene(bad(rule), "bad"), scene(good(rule), "good"))
    cluster.becomes("good", lambda: _reason(cluster, "good", "AbleToScale"), "SucceededGetScale")
    cluster.becomes("bad", lambda: _reason(cluster, "bad", "AbleToScale"), "FailedGetScale")


def test_autoscaler_target_not_scalable(cluster: Cluster) -> None:
    """A Job with pods: the controller knows no scale subresource of it."""
    rule = "autoscaler-target-not-scalable"
    [_, detector] = documents(good("autoscaler-without-target"))
    cluster.create({**detector, "metadata": {"name": "detector", "namespace": "good"}})
    show(cluster, scene(bad(rule), "bad"), scene(good(rule), "good"))
    cluster.becomes("good", lambda: _reason(cluster, "good", "AbleToScale"), "SucceededGetScale")
    cluster.becomes(
        "bad", lambda: _reason(cluster, "bad", "AbleToScale", "training"), "FailedGetScale"
    )


def test_autoscalers_share_target(cluster: Cluster) -> None:
    """No metrics API is there: the good one misses its metric, the bad ones do not even look for theirs."""
    rule = "autoscalers-share-target"
    cluster.add_nodes(Shape(gpus=16), 1)
    [_, detector] = documents(good("autoscaler-without-target"))
    for name, text in (("bad", bad(rule)), ("good", good(rule))):
        cluster.create({**detector, "metadata": {"name": "detector", "namespace": name}})
        cluster.becomes("ready", lambda name=name: _replicas(cluster, name, "readyReplicas"), 1)
        show(cluster, scene(text, name))
    for name in ("detector", "detector-waiting"):
        cluster.becomes(
            name,
            lambda name=name: _reason(cluster, "bad", "ScalingActive", name),
            "AmbiguousSelector",
        )
    cluster.becomes(
        "good", lambda: _reason(cluster, "good", "ScalingActive"), "FailedGetPodsMetric"
    )


def _usage(pod: Object) -> Object:
    """What a metrics server would tell of a pod with one container, which uses 2 cores."""
    later = datetime.now(UTC) + timedelta(minutes=1)  # measured after it became ready
    return {
        "apiVersion": "metrics.k8s.io/v1beta1",
        "kind": "PodMetrics",
        "metadata": {
            "name": pod["metadata"]["name"],
            "namespace": pod["metadata"]["namespace"],
            "labels": pod["metadata"]["labels"],
        },
        "timestamp": later.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "window": "1s",
        "containers": [{"name": "server", "usage": {"cpu": "2", "memory": "1Gi"}}],
    }


def _replicas(cluster: Cluster, namespace: str, field: str) -> int:
    status = cluster.get("apps/v1", "Deployment", "detector", namespace).get("status", {})
    return int(status.get(field, 0))


def _reason(cluster: Cluster, namespace: str, condition: str, name: str = "detector") -> str:
    """The reason of an autoscaler's condition."""
    found = conditions(cluster.get(*HPA[:2], name, namespace)).get(condition, {})
    return str(found.get("reason", ""))
