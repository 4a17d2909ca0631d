"""ResourceQuotas and LimitRanges that limit nothing, or too much; kube-apiserver decides."""

from __future__ import annotations

import pytest

from tests.servers.client import ApiError, Object
from tests.servers.cluster import Cluster, gpus
from tests.servers.nodes import Shape
from tests.servers.pages import bad, good
from tests.servers.proofs.examples import apply, documents, scene, show
from tests.servers.workloads import Ask, job, pod

CHANGE = {"spec": {"template": {"metadata": {"annotations": {"build": "2"}}}}}


def made(cluster: Cluster, namespace: str, count: int, ask: Ask) -> int:
    """How many of so many pods are not refused."""
    accepted = 0
    for i in range(count):
        try:
            cluster.create(pod(f"p{i}", namespace, ask))
        except ApiError as error:
            assert "exceeded quota" in str(error)  # noqa: PT017 (other refusals do not prove it)
        else:
            accepted += 1
    return accepted


def pods(cluster: Cluster, namespace: str) -> int:
    return len(cluster.pods(namespace))


def refused(cluster: Cluster, namespace: str) -> list[str]:
    """The messages of events about pods that were not created."""
    return [
        it["message"]
        for it in cluster.objects("v1", "Event", namespace)
        if it["reason"] == "FailedCreate"
    ]


def test_gpu_quota_counts_nothing(cluster: Cluster) -> None:
    """Of six GPUs in a quota of four, six."""
    rule = "gpu-quota-counts-nothing"
    names = ("bare", "limits", "plural")
    show(
        cluster,
        *(scene(bad(rule, i), name) for i, name in enumerate((*names, "batch"))),
        scene(good(rule), "good"),
    )
    batch = job("batch", "batch", Ask(gpus=0))
    [container] = batch["spec"]["template"]["spec"]["containers"]
    container["resources"] = {"requests": {"kubernetes.io/batch-cpu": "5k"}}
    cluster.create(batch)
    cluster.becomes("pods", lambda: len(cluster.pods("batch")), 1)
    assert "requests.kubernetes.io/batch-cpu" not in _used(cluster, "batch")
    for name in ("limits", "good"):
        cluster.until("the quota counts", lambda name=name: _counts(cluster, name))
    accepted = [made(cluster, name, 6, Ask(gpus=1)) for name in (*names, "good")]
    assert accepted == [6, 4, 6, 4]
    assert _used(cluster, "bare") == {}
    assert _used(cluster, "plural") == {"requests.nvidia.com/gpus": "0"}
    assert _used(cluster, "limits") == {"requests.nvidia.com/gpu": "4"}


def test_quota_omits_gpu_resource(cluster: Cluster) -> None:
    """Of four MIG instances in a quota of two GPUs, four."""
    rule = "quota-omits-gpu-resource"
    show(cluster, scene(bad(rule), "bad"), scene(good(rule), "good"))
    for name in ("bad", "good"):
        cluster.until("the quota counts", lambda name=name: _counts(cluster, name))
    ask = Ask(gpus=1, resource="nvidia.com/mig-1g.10gb")
    assert made(cluster, "bad", 4, ask) == 4
    assert made(cluster, "good", 4, ask) == 2
    assert _used(cluster, "bad") == {"requests.nvidia.com/gpu": "0"}


def test_limit_above_nodes(cluster: Cluster) -> None:
    """Only a limit of what the nodes have is ever reached."""
    cluster.add_nodes(Shape(gpus=8))
    rule = "limit-above-nodes"
    show(cluster, scene(bad(rule), "high"), scene(good(rule), "fits"))
    for namespace in ("high", "fits"):
        cluster.create(*(pod(f"p{i}", namespace, Ask(gpus=4)) for i in range(2)))
    assert cluster.refusal(pod("third", "fits", Ask(gpus=4))) != ""
    cluster.create(pod("third", "high", Ask(gpus=4)))
    cluster.becomes("bound", cluster.bound, 8)
    cluster.stays("bound", cluster.bound, 8, for_s=1)


def test_job_exceeds_free_quota(cluster: Cluster) -> None:
    rule = "job-exceeds-free-quota"
    cluster.add_nodes(Shape(gpus=16))
    for namespace, example, count in (("bad", bad(rule), 4), ("good", good(rule), 5)):
        objects = documents(scene(example, namespace))
        apply(cluster, [it for it in objects if it["kind"] != "Job"])
        cluster.becomes(namespace, lambda namespace=namespace: cluster.bound(namespace), 4)
        apply(cluster, [it for it in objects if it["kind"] == "Job"])
        cluster.becomes(namespace, lambda namespace=namespace: cluster.bound(namespace), count)
    cluster.until("the pod is refused", lambda: refused(cluster, "bad"))


def test_object_quota_counts_nothing(cluster: Cluster) -> None:
    """Of twelve Jobs in a quota of ten, twelve."""
    rule = "object-quota-counts-nothing"
    show(cluster, scene(bad(rule), "bad"), scene(good(rule), "good"))
    cluster.until("the quota counts", lambda: "count/jobs.batch" in _used(cluster, "good"))
    cluster.until("the quota is known", lambda: _counts(cluster, "bad"))
    accepted = dict.fromkeys(("bad", "good"), 0)
    for namespace in accepted:
        for i in range(12):
            try:
                cluster.create(job(f"j{i}", namespace, Ask(gpus=0)))
            except ApiError as error:
                assert "exceeded quota" in str(error)  # noqa: PT017 (other refusals do not prove it)
            else:
                accepted[namespace] += 1
    assert accepted == {"bad": 12, "good": 10}
    assert _used(cluster, "good")["count/jobs.batch"] == "10"
    assert set(_used(cluster, "bad").values()) <= {"0"}


def test_quota_for_unknown_priority(cluster: Cluster) -> None:
    """Of ten GPUs in a quota of eight, ten."""
    rule = "quota-for-unknown-priority"
    show(cluster, scene(bad(rule), "bad"), scene(good(rule), "good"))
    cluster.until("the quota counts", lambda: _counts(cluster, "good"))
    asked = Ask(gpus=2, priority="training")
    assert made(cluster, "bad", 5, asked) == 5
    assert made(cluster, "good", 5, asked) == 4


def test_quota_without_defaults(cluster: Cluster) -> None:
    rule = "quota-without-defaults"
    show(cluster, scene(bad(rule), "bad"), scene(good(rule), "good"))
    cluster.becomes("good", lambda: pods(cluster, "good"), 1)
    cluster.until("refused", lambda: refused(cluster, "bad"))
    assert "must specify requests.cpu for: rank" in refused(cluster, "bad")[0]
    assert pods(cluster, "bad") == 0


def test_workload_exceeds_resource_quota(cluster: Cluster) -> None:
    """Half of the ranks start, and hold their GPUs."""
    rule = "workload-exceeds-resource-quota"
    cluster.add_nodes(Shape(), 2)
    show(cluster, scene(bad(rule), "bad"), scene(good(rule), "good"))
    cluster.becomes("good", lambda: cluster.bound("good"), 8)
    cluster.becomes("bad", lambda: cluster.bound("bad"), 4)
    cluster.until("the others are refused", lambda: refused(cluster, "bad"))
    cluster.stays("bad", lambda: pods(cluster, "bad"), 4, for_s=1)


def test_default_gpu_for_every_container(cluster: Cluster) -> None:
    """A pod with two containers and no requests takes two GPUs, or twice the maximum."""
    rule = "default-gpu-for-every-container"
    show(cluster, scene(bad(rule), "bad"), scene(bad(rule, 1), "most"), scene(good(rule), "good"))
    taken = {}
    for name in ("bad", "most", "good"):
        two = pod("shell", name, Ask(gpus=0))
        [container] = two["spec"]["containers"]
        two["spec"]["containers"].append({**container, "name": "sidecar"})
        cluster.create(two)
        taken[name] = gpus(cluster.get("v1", "Pod", "shell", name))
    assert taken == {"bad": 2, "most": 16, "good": 0}


@pytest.mark.parametrize("number", [0, 2])
def test_rollout_exceeds_quota(cluster: Cluster, number: int) -> None:
    """A change: with the default no pod of it is made, with the other all are; also beside another Deployment."""
    rule = "rollout-exceeds-quota"
    cluster.add_nodes(Shape(), 2)
    show(cluster, scene(bad(rule, number), "bad"), scene(good(rule, number), "good"))
    for name in ("bad", "good"):
        cluster.becomes(
            f"{name} is ready", lambda n=name: _status(cluster, n).get("readyReplicas"), 2
        )
        cluster.patch("apps/v1", "Deployment", "detector", CHANGE, name)
    cluster.becomes("good", lambda: updated(cluster, "good", "detector"), 2)
    cluster.until("refused", lambda: "exceeded quota" in " ".join(refused(cluster, "bad")))
    cluster.becomes("bad", lambda: updated(cluster, "bad", "detector"), 0)
    cluster.stays("bad", lambda: updated(cluster, "bad", "detector"), 0, for_s=1)


def test_autoscaler_exceeds_quota(cluster: Cluster) -> None:
    """At the maximum of the autoscaler, which keeps the replicas as long as no metrics exist."""
    rule = "autoscaler-exceeds-quota"
    cluster.add_nodes(Shape(), 2)
    show(cluster, scene(bad(rule), "bad"), scene(good(rule), "good"))
    for name in ("bad", "good"):
        cluster.patch("apps/v1", "Deployment", "detector", {"spec": {"replicas": 8}}, name)
    cluster.becomes("good", lambda: cluster.bound("good"), 8)
    cluster.becomes("bad", lambda: cluster.bound("bad"), 4)
    cluster.until("refused", lambda: "exceeded quota" in " ".join(refused(cluster, "bad")))
    cluster.stays("bad", lambda: pods(cluster, "bad"), 4, for_s=1)


def test_workloads_exceed_resource_quota(cluster: Cluster) -> None:
    rule = "workloads-exceed-resource-quota"
    cluster.add_nodes(Shape(), 3)
    show(cluster, scene(bad(rule), "bad"), scene(good(rule), "good"))
    cluster.until("refused", lambda: "exceeded quota" in " ".join(refused(cluster, "bad")))
    for name in ("bad", "good"):
        cluster.becomes(name, lambda n=name: cluster.bound(n), 8)
    cluster.stays("bad", lambda: pods(cluster, "bad"), 8, for_s=1)
    assert not refused(cluster, "good")


def test_autoscaler_beside_another_workload_exceeds_quota(cluster: Cluster) -> None:
    """Its maximum has room in the quota alone, but not beside the pods of the other Deployment."""
    rule = "workloads-exceed-resource-quota"
    cluster.add_nodes(Shape(), 3)
    show(cluster, scene(good(rule), "bad"))
    cluster.becomes("both", lambda: cluster.bound("bad"), 8)
    cluster.patch("apps/v1", "Deployment", "segmenter", {"spec": {"replicas": 6}}, "bad")
    cluster.until("refused", lambda: "exceeded quota" in " ".join(refused(cluster, "bad")))
    cluster.stays("bad", lambda: pods(cluster, "bad"), 8, for_s=1)


def updated(cluster: Cluster, namespace: str, name: str) -> int | None:
    """How many pods of a Deployment are of its newest version; None before that was looked at."""
    found = cluster.get("apps/v1", "Deployment", name, namespace)
    status = found.get("status", {})
    if status.get("observedGeneration") != found["metadata"]["generation"]:
        return None
    return int(status.get("updatedReplicas", 0))


def _status(cluster: Cluster, namespace: str) -> Object:
    status: Object = cluster.get("apps/v1", "Deployment", "detector", namespace)["status"]
    return status


def _counts(cluster: Cluster, namespace: str) -> bool:
    [quota] = cluster.objects("v1", "ResourceQuota", namespace)
    return "hard" in quota.get("status", {})


def _used(cluster: Cluster, namespace: str) -> Object:
    [quota] = cluster.objects("v1", "ResourceQuota", namespace)
    used: Object = quota.get("status", {}).get("used", {})
    return used


def test_limit_range_refuses_claims(cluster: Cluster) -> None:
    """A claim above the maximum is refused, and one below it is created."""
    rule = "limit-range-refuses-claims"
    for name, text in (("bad", bad(rule)), ("good", good(rule))):
        limits, claim = documents(scene(text, name))
        apply(cluster, [limits])
        answer = ""
        try:
            cluster.create(claim)
        except ApiError as error:
            answer = str(error)
        assert ("maximum storage usage per PersistentVolumeClaim is" in answer) == (name == "bad")
    show(cluster, scene(bad(rule, 1), "controller"))
    cluster.until("refused", lambda: refused(cluster, "controller"))
    assert "minimum storage usage per PersistentVolumeClaim is" in refused(cluster, "controller")[0]
    assert cluster.pods("controller") == []
