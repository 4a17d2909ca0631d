"""Jobs of these pages are admitted or run, but Kueue does not count their usage."""

from __future__ import annotations

from policygen.core.quantity import parse
from tests.servers.client import Object
from tests.servers.cluster import KUEUE, Cluster
from tests.servers.nodes import Shape
from tests.servers.pages import bad, good
from tests.servers.proofs.examples import add_nodes, apply, configuration, documents, scene, show
from tests.servers.scenes import messages
from tests.servers.workloads import GPU, Ask, job

A100 = Shape(labels={"pool": "a100"})


def reserved(cluster: Cluster, queue: str, resource: str = GPU) -> int:
    """What a ClusterQueue has given away."""
    status = cluster.get(KUEUE, "ClusterQueue", queue).get("status", {})
    return sum(
        int(parse(str(it["total"])).value)
        for flavor in status.get("flavorsReservation", [])
        for it in flavor["resources"]
        if it["name"] == resource
    )


def test_workload_uses_no_quota(cluster: Cluster) -> None:
    """Any number of them is admitted, and may land on any node."""
    rule = "workload-uses-no-quota"
    cluster.add_nodes(A100, 1, prefix="a100")
    cluster.add_nodes(Shape(gpus=0), 1, prefix="another")
    show(cluster, scene(bad(rule), "bad"), scene(good(rule), "good"))
    [train] = [it for it in documents(scene(bad(rule), "bad")) if it["kind"] == "Job"]
    cluster.create(*(_named(train, f"more-{i}") for i in range(5)))
    cluster.becomes("admitted", lambda: len(cluster.admitted("bad")), 6)
    cluster.becomes("good", lambda: cluster.admitted("good"), ["train"])
    cluster.becomes("charged", lambda: reserved(cluster, "good.a100", "cpu"), 8)
    assert reserved(cluster, "bad.a100", "cpu") == 0
    cluster.becomes("pods", lambda: len(cluster.pods("bad")), 6)
    assert not any("nodeSelector" in pod["spec"] for pod in cluster.pods("bad"))
    cluster.until("a pod", lambda: cluster.pods("good"))
    assert [pod["spec"]["nodeSelector"] for pod in cluster.pods("good")] == [{"pool": "a100"}]


def test_workload_without_namespace(cluster: Cluster) -> None:
    """kubectl without a namespace creates the Job in `default`, where it stays suspended."""
    rule = "workload-without-namespace"
    cluster.add_nodes(A100, 1, prefix="a100")
    show(cluster, scene(good(rule), "good"))
    cluster.becomes("good", lambda: cluster.admitted("good"), ["training"])
    *queues, work = documents(scene(bad(rule), "bad"))
    apply(cluster, [*queues, {**work, "metadata": {**work["metadata"], "namespace": "default"}}])
    cluster.until("its Workload", lambda: cluster.objects(KUEUE, "Workload", "default"))
    cluster.stays("bad", lambda: cluster.admitted("default"), [], for_s=1)


def test_workload_names_no_queue(cluster: Cluster) -> None:
    """It takes the only node, and Kueue admits another Job for the same GPUs."""
    rule = "workload-names-no-queue"
    cluster.add_nodes(A100, 1, prefix="a100")
    late = lambda name: job("late", name, Ask(gpus=8, cpu="8", memory="64Gi"), queue="a100")
    show(cluster, scene(bad(rule), "bad"))
    cluster.becomes("bad", lambda: cluster.bound("bad"), 8)
    cluster.create(late("bad"))
    cluster.becomes("admitted", lambda: cluster.admitted("bad"), ["late"])
    cluster.until("its pod", lambda: cluster.waiting("bad"))
    cluster.becomes("GPUs that Kueue counts", lambda: reserved(cluster, "bad.a100"), 8)
    cluster.stays("GPUs in use", lambda: cluster.bound("bad"), 8, for_s=1)
    for name in ("train", "late"):
        cluster.delete("batch/v1", "Job", name, "bad")
    show(cluster, scene(good(rule), "good"))
    cluster.becomes("good", lambda: cluster.bound("good"), 8)
    cluster.create(late("good"))
    cluster.becomes("Workloads", lambda: _owners(cluster, "good"), ["Job", "Job"])
    cluster.stays("admitted", lambda: cluster.admitted("good"), ["train"], for_s=1)


def test_daemon_set_names_no_queue(cluster: Cluster) -> None:
    """It takes the GPUs of each node, and Kueue admits a Job for the same GPUs.

    With the label on its pods, Kueue counts them.
    """
    rule = "workload-names-no-queue"
    index = next(i for i in range(9) if "DaemonSet" in bad(rule, i))
    cluster.add_nodes(A100, 1, prefix="a100")
    show(cluster, scene(bad(rule, index), "bad"))
    cluster.becomes("bad", lambda: cluster.bound("bad"), 8)
    cluster.create(job("late", "bad", Ask(gpus=8, cpu="8", memory="64Gi"), queue="a100"))
    cluster.becomes("admitted", lambda: cluster.admitted("bad"), ["late"])
    cluster.until("its pod", lambda: cluster.waiting("bad"))
    cluster.becomes("GPUs that Kueue counts", lambda: reserved(cluster, "bad.a100"), 8)
    cluster.delete("batch/v1", "Job", "late", "bad")
    cluster.delete("apps/v1", "DaemonSet", "serve", "bad")
    cluster.becomes("gone", lambda: cluster.pods("bad"), [])
    show(cluster, scene(good(rule, index), "good"))
    cluster.becomes("good", lambda: cluster.bound("good"), 8)
    cluster.becomes("GPUs that Kueue counts", lambda: reserved(cluster, "good.a100"), 8)


def test_workload_names_no_queue_and_is_suspended(cluster: Cluster) -> None:
    """With manageJobsWithoutQueueName, no queue ever admits it."""
    rule = "workload-names-no-queue"
    cluster.add_nodes(A100, 1, prefix="a100")
    with cluster.kueue(configuration(bad(rule, 1))):
        show(cluster, bad(rule, 1))
        cluster.until("message", lambda: "doesn't exist" in " ".join(messages(cluster, "vision")))
        [train] = cluster.objects("batch/v1", "Job", "vision")
        assert train["spec"]["suspend"]
        cluster.delete("batch/v1", "Job", "train", "vision")
        cluster.becomes("gone", lambda: cluster.objects("batch/v1", "Job", "vision"), [])
        show(cluster, good(rule, 1))
        cluster.becomes("good", lambda: cluster.bound("vision"), 8)


def test_queued_pod_fits_no_node(cluster: Cluster) -> None:
    """It takes the whole quota, and its pod waits."""
    rule = "pod-fits-no-node"
    add_nodes(cluster, bad(rule, 1))
    show(cluster, scene(bad(rule, 1), "bad"), scene(good(rule, 1), "good"))
    cluster.becomes("good", lambda: cluster.bound("good"), 4)
    cluster.becomes("admitted", lambda: cluster.admitted("bad"), ["train"])
    cluster.becomes("charged", lambda: reserved(cluster, "bad.a100"), 8)
    cluster.until("its pod", lambda: cluster.waiting("bad"))
    cluster.stays("GPUs in use", lambda: cluster.bound("bad"), 0, for_s=1)


def test_resource_quota_below_queue(cluster: Cluster) -> None:
    """Kueue gives away 8 GPUs, of which 4 are used."""
    rule = "resource-quota-below-queue"
    cluster.add_nodes(A100, 2, prefix="a100")
    eight = Ask(gpus=1, cpu="4", memory="32Gi")
    for name, example in (("bad", bad), ("good", good)):
        show(cluster, scene(example(rule), name))
        cluster.create(job("train", name, eight, pods=8, queue="a100"))
    cluster.becomes("good", lambda: cluster.bound("good"), 8)
    cluster.becomes("bad", lambda: cluster.bound("bad"), 4)
    for name in ("bad", "good"):
        cluster.becomes("given away", lambda name=name: reserved(cluster, f"{name}.a100"), 8)
    cluster.stays("bad", lambda: len(cluster.pods("bad")), 4, for_s=1)


def test_queue_name_misplaced(cluster: Cluster) -> None:
    """On pods the label queues each by itself; elsewhere nothing is queued at all.

    A Job without labels takes over those of its pods.
    """
    rule = "queue-name-misplaced"
    show(
        cluster,
        *(scene(bad(rule, i), f"bad-{i}") for i in range(3)),
        *(scene(good(rule, i), name) for i, name in ((3, "good"), (1, "without-labels"))),
    )
    cluster.create(*(_made(cluster, name) for name in ("bad-1", "good")))
    for name, owners in (
        ("bad-0", ["Pod"]),
        ("bad-1", []),
        ("bad-2", []),
        ("good", ["Job", "Job"]),
        ("without-labels", ["Job"]),
    ):
        cluster.becomes(name, lambda name=name: _owners(cluster, name), owners)
    for name in ("bad-0", "bad-1", "bad-2"):
        [started] = cluster.objects("batch/v1", "Job", name)
        assert not started["spec"]["suspend"]
        cluster.becomes("pods", lambda name=name: len(cluster.pods(name)), 1)
    for name in ("bad-1", "bad-2"):
        cluster.stays("Workloads", lambda name=name: _owners(cluster, name), [], for_s=0.5)
        assert reserved(cluster, f"{name}.a100") == 0


def _owners(cluster: Cluster, namespace: str) -> list[str]:
    """The kinds of the Workloads' owners."""
    found = cluster.objects(KUEUE, "Workload", namespace)
    return sorted(it["metadata"]["ownerReferences"][0]["kind"] for it in found)


def _made(cluster: Cluster, namespace: str) -> Object:
    """A Job as a CronJob makes it, without waiting for the night."""
    [cron] = cluster.objects("batch/v1", "CronJob", namespace)
    template = cron["spec"]["jobTemplate"]
    return _named(
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {**template.get("metadata", {}), "namespace": namespace},
            "spec": template["spec"],
        },
        "nightly-1",
    )


def _named(thing: Object, name: str) -> Object:
    return {**thing, "metadata": {**thing["metadata"], "name": name}}


def test_the_queue_of_a_kind_that_is_not_managed(cluster: Cluster) -> None:
    """The last examples of queue-name-misplaced: the label of a ReplicaSet has no effect."""
    rule = "queue-name-misplaced"
    show(cluster, scene(bad(rule, 3), "bad"), scene(good(rule, 2), "good"))
    cluster.becomes("good", lambda: _owners(cluster, "good"), ["Pod", "Pod"])
    cluster.becomes("pods", lambda: len(cluster.pods("bad")), 2)
    cluster.stays("Workloads", lambda: _owners(cluster, "bad"), [], for_s=0.5)
