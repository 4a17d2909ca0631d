"""HorizontalPodAutoscalers that never scale. The test writes metrics in place of a metrics server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta

import pytest

from tests.servers.build import Built
from tests.servers.client import Object
from tests.servers.cluster import Cluster
from tests.servers.nodes import Shape
from tests.servers.pages import bad, good
from tests.servers.proofs.examples import conditions, documents, scene, show
from tests.servers.proofs.kinds import known
from tests.servers.rendering import json_documents
from tests.servers.vertical_updater import recommend, vertical_updater
from tests.servers.workloads import Ask, deployment

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


def test_autoscaler_container_missing(metrics: Cluster) -> None:
    """Pods report the cpu of their only container: an autoscaler of another one never scales."""
    rule = "autoscaler-container-missing"
    metrics.add_nodes(Shape(gpus=16), 1)
    for name, text in (("bad", bad(rule)), ("good", good(rule))):
        [autoscaler, detector] = documents(text)
        metrics.create(_in(detector, name))
        metrics.becomes("ready", lambda name=name: _replicas(metrics, name, "readyReplicas"), 1)
        [pod] = metrics.pods(name)
        metrics.create(_usage(pod), _in(autoscaler, name))
    metrics.until("good", lambda: _replicas(metrics, "good", "replicas") > 1)
    metrics.becomes(
        "bad", lambda: _reason(metrics, "bad", "ScalingActive"), "FailedGetContainerResourceMetric"
    )
    assert _replicas(metrics, "bad", "replicas") == 1


def test_replicas_set_beside_autoscaler(cluster: Cluster) -> None:
    """After a change by the scale subresource, as an autoscaler makes it, the manifest is applied again."""
    rule = "replicas-set-beside-autoscaler"
    for name, text, wanted in (("bad", bad(rule), 2), ("good", good(rule), 5)):
        manifest = json_documents([_in(documents(text)[1], name)])
        cluster.namespace(name)
        cluster.apply(manifest)
        to_five = {"spec": {"replicas": 5}}
        cluster.patch("apps/v1", "Deployment", "detector", to_five, name, subresource="scale")
        cluster.becomes("scaled", lambda name=name: _replicas(cluster, name, "replicas"), 5)
        cluster.apply(manifest)
        cluster.becomes("applied", lambda name=name: _replicas(cluster, name, "replicas"), wanted)
        cluster.stays(
            "applied", lambda name=name: _replicas(cluster, name, "replicas"), wanted, for_s=1
        )


def _in(thing: Object, namespace: str) -> Object:
    return {**thing, "metadata": {"name": thing["metadata"]["name"], "namespace": namespace}}


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


def test_autoscaler_evicts_training(cluster: Cluster, tools: Mapping[str, Built]) -> None:
    rule, ask = "autoscaler-evicts-training", Ask(gpus=8)
    cluster.add_nodes(Shape(gpus=8), 3)
    pods: dict[str, set[str]] = {}
    with vertical_updater(cluster, tools) as looked_at:
        for name, text in (("bad", bad(rule)), ("good", good(rule))):
            cluster.create(_stateful_set(name, ask))
            cluster.becomes("GPUs in use", lambda name=name: cluster.bound(name), 8)
            pods[name] = _uids(cluster, name)
            show(cluster, scene(text, name))
            recommend(cluster, name, "training")
        cluster.until("the updater", lambda: looked_at("good", "training"))
        cluster.until("bad", lambda: not pods["bad"] & _uids(cluster, "bad"))
        cluster.stays("good", lambda: _uids(cluster, "good"), pods["good"])


def _stateful_set(namespace: str, ask: Ask) -> Object:
    thing = deployment("training", namespace, ask)
    return {**thing, "kind": "StatefulSet", "spec": {**thing["spec"], "serviceName": "training"}}


def _uids(cluster: Cluster, namespace: str) -> set[str]:
    return {it["metadata"]["uid"] for it in cluster.pods(namespace)}


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
