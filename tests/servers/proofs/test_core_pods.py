"""Pods and Jobs that never start, or start without the rest of their group; without any queue."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from policygen.cli.main import cli
from tests.servers.client import Object
from tests.servers.cluster import SCHEDULING, Cluster
from tests.servers.nodes import Shape
from tests.servers.pages import bad, good
from tests.servers.proofs.examples import (
    add_nodes,
    apply,
    conditions,
    documents,
    scene,
    show,
)
from tests.servers.proofs.test_core_nodes import placed
from tests.servers.proofs.test_core_quotas import refused
from tests.servers.workloads import Ask, pod, pod_group


def test_pod_fits_no_node(cluster: Cluster) -> None:
    """16 GPUs on nodes of 8, of which there are two."""
    rule = "pod-fits-no-node"
    add_nodes(cluster, bad(rule))
    cluster.add_nodes(Shape(cpu="64", memory="512Gi"), 1, prefix="gpu-2")
    show(cluster, scene(bad(rule), "bad"))
    cluster.until("looked for", lambda: _unplaced(cluster, "bad"))
    [reason] = _unplaced(cluster, "bad")
    assert "2 Insufficient nvidia.com/gpu" in reason
    show(cluster, scene(good(rule), "good"))
    cluster.becomes("good", lambda: cluster.bound("good"), 16)
    assert cluster.bound("bad") == 0


@pytest.mark.parametrize(
    ("rule", "number", "ends"),
    [
        (
            "pod-fits-no-node",
            6,
            ((0, 2), (2, 0)),
        ),  # a flavor with larger nodes has too little quota
        ("replicas-exceed-nodes", 5, ((2, 1), (3, 0))),
    ],
)
def test_kueue_admits_pods_without_room(
    cluster: Cluster, rule: str, number: int, ends: tuple[tuple[int, int], ...]
) -> None:
    """Kueue compares only sums with the quota, so the Job holds quota for pods that stay Pending."""
    add_nodes(cluster, bad(rule, number))
    scenes = (bad(rule, number), "bad"), (good(rule, number), "good")
    for (text, name), end in zip(scenes, ends, strict=True):
        cluster.namespace(name)
        show(cluster, scene(text, name))
        cluster.becomes("admitted", lambda name=name: len(cluster.admitted(name)), 1)
        cluster.becomes("pods", lambda name=name: placed(cluster, name), end)
        cluster.stays("pods", lambda name=name: placed(cluster, name), end, for_s=1)
        cluster.delete("batch/v1", "Job", "train", name)
        cluster.becomes("deleted", lambda name=name: placed(cluster, name), (0, 0))


@pytest.mark.parametrize(
    ("rule", "number", "owner", "used"),
    [
        ("pod-fits-no-node", 5, ("batch/v1", "Job", "train"), 0),
        ("gpus-left-unusable", -1, ("apps/v1", "Deployment", "llm"), 7),
    ],
)
def test_a_daemon_leaves_less_of_a_node(
    cluster: Cluster, rule: str, number: int, owner: tuple[str, str, str], used: int
) -> None:
    """Its pod runs first, as on a node that is new, and the other pods get what it leaves."""
    add_nodes(cluster, bad(rule, number))
    apply(cluster, [it for it in documents(bad(rule, number)) if it["kind"] == "DaemonSet"])
    cluster.becomes("daemon", lambda: placed(cluster, "monitoring"), (1, 0))
    for text, namespace, gpus in (
        (bad(rule, number), "bad", used),
        (good(rule, number), "good", 8),
    ):
        show(cluster, scene(text, namespace))
        if used:  # one pod more than runs in the bad case
            cluster.patch(*owner, {"spec": {"replicas": 8}}, namespace)
        cluster.becomes("GPUs", lambda name=namespace: cluster.bound(name), gpus)
        cluster.stays("GPUs", lambda name=namespace: cluster.bound(name), gpus, for_s=1)
        cluster.delete(*owner, namespace)
        cluster.becomes("deleted", lambda name=namespace: placed(cluster, name), (0, 0))


def test_template_pods_refused(cluster: Cluster) -> None:
    """The controllers report the refusals as events."""
    rule = "template-pods-refused"
    show(cluster, scene(bad(rule), "bad"), scene(good(rule), "good"))
    cluster.becomes("good", lambda: len(cluster.pods("good")), 2)
    words = ("leading or trailing whitespace", "priority (2000) must not be provided")
    cluster.until(
        "refused", lambda: all(any(it in each for each in refused(cluster, "bad")) for it in words)
    )
    assert not cluster.pods("bad")


ZONE = "topology.kubernetes.io/zone"
IN_A = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["a"]}]}
VOLUMES = {
    "pinned": ("didn't match PersistentVolume's node affinity", {"volumeName": "pinned"}),
    "zonal": ("had no available volume zone", {"volumeName": "zonal"}),
    "created": ("didn't find available persistent volumes to bind", {}),
}
"""By the name of a claim: kube-scheduler's words, and the volume of the claim."""


def test_no_node_is_in_the_zone_of_the_volume(cluster: Cluster, tmp_path: Path) -> None:
    """By the node affinity of a volume, by its label, and by the topologies of its class."""
    names = cluster.add_nodes(Shape(labels={ZONE: "b"}), 1)
    objects = list(_storage())
    cluster.create(*objects)
    cluster.until("looked for", lambda: len(_with_zones(cluster)) == len(VOLUMES))
    for name, message in _with_zones(cluster).items():
        assert f"1 node(s) {VOLUMES[name][0]}" in message, name
    manifests = tmp_path / "all.yaml"
    node = {"apiVersion": "v1", "kind": "Node", **cluster.objects("v1", "Node")[0]}
    for zone, count in (("b", len(VOLUMES)), ("a", 0)):
        node["metadata"]["labels"][ZONE] = zone
        manifests.write_text(yaml.safe_dump_all([node, *objects]), "utf-8")
        rule = ("--rule", "pod-fits-no-node")
        done = CliRunner().invoke(cli, ["lint", "--manifests", str(manifests), *rule, "-f", "json"])
        found = [it["rule"] for it in json.loads(done.stdout)["findings"]]
        assert found == ["pod-fits-no-node"] * count, done.stdout
    cluster.patch("v1", "Node", names[0], {"metadata": {"labels": {ZONE: "a"}}})
    # Nothing creates the third volume, but kube-scheduler has chosen the node.
    cluster.becomes("wait", lambda: cluster.waiting("bad"), ["created"])
    cluster.until("chosen", lambda: _chosen(cluster))


def _storage() -> Iterator[Object]:
    """A class, and a volume, a claim and a pod for each of `VOLUMES`."""
    yield {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "created"},
        "provisioner": "disk.example.com",
        "volumeBindingMode": "WaitForFirstConsumer",
        "allowedTopologies": [{"matchLabelExpressions": [{"key": ZONE, "values": ["a"]}]}],
    }
    shared = {"accessModes": ["ReadWriteOnce"], "storageClassName": ""}
    for name, (_, claim) in VOLUMES.items():
        if claim:
            volume: Object = {
                "capacity": {"storage": "1Gi"},
                "hostPath": {"path": "/tmp"},
                **shared,
            }
            if name == "pinned":
                volume["nodeAffinity"] = {"required": {"nodeSelectorTerms": [IN_A]}}
            labels = {ZONE: "a"} if name == "zonal" else {}
            metadata = {"name": name, "labels": labels}
            yield {
                "apiVersion": "v1",
                "kind": "PersistentVolume",
                "metadata": metadata,
                "spec": volume,
            }
        spec = {**shared, "resources": {"requests": {"storage": "1Gi"}}, **claim}
        if not claim:
            spec["storageClassName"] = name
        metadata = {"name": name, "namespace": "bad"}
        yield {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": metadata,
            "spec": spec,
        }
        made = pod(name, "bad", Ask())
        made["spec"]["volumes"] = [{"name": "v", "persistentVolumeClaim": {"claimName": name}}]
        yield made


def _chosen(cluster: Cluster) -> list[str]:
    claims = cluster.objects("v1", "PersistentVolumeClaim", "bad")
    key = "volume.kubernetes.io/selected-node"
    return [it["metadata"]["name"] for it in claims if key in it["metadata"].get("annotations", {})]


def _with_zones(cluster: Cluster) -> dict[str, str]:
    """kube-scheduler's messages about nodes, by the name of the pod."""
    found = {
        it["metadata"]["name"]: conditions(it).get("PodScheduled", {}) for it in cluster.pods("bad")
    }
    return {
        name: it["message"]
        for name, it in found.items()
        if it.get("status") == "False" and "1 node(s)" in it["message"]
    }


def test_volume_claim_missing(cluster: Cluster) -> None:
    """kube-scheduler waits for the claim, although a node has room for the pod."""
    rule = "volume-claim-missing"
    cluster.add_nodes(Shape(), 1)
    claim = {"accessModes": ["ReadWriteMany"], "storageClassName": "shared"}
    volume = {"capacity": {"storage": "1Ti"}, "hostPath": {"path": "/tmp"}, **claim}
    metadata = {"name": "shared"}
    cluster.create(
        {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": metadata, "spec": volume}
    )
    show(cluster, scene(good(rule), "good"))
    cluster.until("placed", lambda: _bound(cluster))
    show(cluster, scene(bad(rule), "bad"))
    cluster.until("looked for", lambda: _unplaced(cluster, "bad"))
    [reason] = _unplaced(cluster, "bad")
    assert 'persistentvolumeclaim "checkpoint" not found' in reason


def test_memory_without_unit(cluster: Cluster) -> None:
    """A node with memory for one of the pods takes both."""
    rule = "memory-without-unit"
    for name, text, want in (("bad", bad(rule), 2), ("good", good(rule), 1)):
        cluster.add_nodes(Shape(gpus=0, memory="64Gi", labels={"only": name}), 1, prefix=name)
        [work] = documents(scene(text, name))
        work["spec"]["template"]["spec"]["nodeSelector"] = {"only": name}
        apply(cluster, [work])
        found = lambda name=name: sum("nodeName" in it["spec"] for it in cluster.pods(name))
        cluster.becomes(name, found, want)
        cluster.stays(name, found, want, for_s=0.5)


def test_unit_of_bytes_misused(cluster: Cluster) -> None:
    """No node has 4Gi cores."""
    rule = "unit-of-bytes-misused"
    cluster.add_nodes(Shape(), 1)
    show(cluster, scene(bad(rule), "bad"), scene(good(rule), "good"))
    found = lambda: sum("nodeName" in it["spec"] for it in cluster.pods("good"))
    cluster.becomes("good", found, 1)
    cluster.until("looked for", lambda: _unplaced(cluster, "bad"))
    [reason] = _unplaced(cluster, "bad")
    assert "1 Insufficient cpu" in reason


def test_resource_name_misspelt_in_a_pod(cluster: Cluster) -> None:
    """The API server accepts the name, and no node offers it."""
    rule = "resource-name-misspelt"
    cluster.add_nodes(Shape(), 1)
    misspelt = bad(rule, 2)
    show(cluster, scene(misspelt, "bad"), scene(misspelt.replace("/gpus", "/gpu"), "good"))
    cluster.becomes("good", lambda: cluster.bound("good"), 1)
    cluster.until("looked for", lambda: _unplaced(cluster, "bad"))
    [reason] = _unplaced(cluster, "bad")
    assert "1 Insufficient nvidia.com/gpus" in reason


def test_scheduler_name_misspelt(cluster: Cluster) -> None:
    """No scheduler looks for a node, and no condition reports this.

    No other test uses the namespace, since events of earlier objects may arrive late.
    """
    rule = "scheduler-name-misspelt"
    cluster.add_nodes(Shape(), 1)
    show(cluster, scene(bad(rule), "misspelt"), scene(good(rule), "good"))
    cluster.becomes("good", lambda: cluster.bound("good"), 1)
    [left] = cluster.pods("misspelt")
    assert conditions(left) == {}
    assert cluster.objects("v1", "Event", "misspelt") == []
    assert cluster.bound("misspelt") == 0


def test_parallelism_exceeds_completions(cluster: Cluster) -> None:
    rule = "parallelism-exceeds-completions"
    cluster.add_nodes(Shape(), 1)
    show(cluster, scene(bad(rule), "bad"), scene(good(rule), "good"))
    cluster.becomes("good", lambda: cluster.bound("good"), 2)
    cluster.becomes("bad", lambda: cluster.bound("bad"), 1)
    cluster.stays("bad", lambda: len(cluster.pods("bad")), 1, for_s=1)


def test_object_declared_twice(cluster: Cluster) -> None:
    """Of two pools one is left."""
    rule = "object-declared-twice"

    def applied(text: str) -> dict[str, Object]:
        cluster.apply(text, jobs=1)  # one after the other, as kubectl does
        found = cluster.objects("kueue.x-k8s.io/v1beta2", "ResourceFlavor")
        return {it["metadata"]["name"]: it["spec"]["nodeLabels"] for it in found}

    assert applied(bad(rule)) == {"a100": {"pool": "a100-80gb"}}
    pools = {"a100": {"pool": "a100"}, "a100-80gb": {"pool": "a100-80gb"}}
    assert applied(good(rule)) == pools


def test_priority_class_missing(cluster: Cluster) -> None:
    """A Job without pods; and a PodGroup that counts as if it had no class."""
    rule = "priority-class-missing"
    show(cluster, scene(bad(rule), "bad"), scene(good(rule), "good"))
    cluster.becomes("good", lambda: len(cluster.pods("good")), 1)
    cluster.until("refused", lambda: refused(cluster, "bad"))
    assert "no PriorityClass with name trainings was found" in refused(cluster, "bad")[0]
    assert cluster.pods("bad") == []
    cluster.create(pod_group("g", "bad", queue="default", min_member=1, priority="trainings"))
    cluster.until("accepted", lambda: cluster.objects(SCHEDULING, "PodGroup", "bad"))


def test_priority_classes_equal(cluster: Cluster) -> None:
    """Neither goes first; with another value serving has the node at once."""
    rule = "priority-classes-equal"
    cluster.add_nodes(Shape(), 1)
    show(cluster, bad(rule))
    cluster.create(pod("first", "bad", Ask(gpus=8, priority="training")))
    cluster.becomes("first", lambda: cluster.waiting("bad"), [])
    cluster.create(pod("second", "bad", Ask(gpus=8, priority="serving")))
    cluster.until("second waits", lambda: _unplaced(cluster, "bad"))
    cluster.stays("second waits", lambda: cluster.waiting("bad"), ["second"], for_s=1)
    for each in documents(bad(rule)):
        cluster.delete(each["apiVersion"], each["kind"], each["metadata"]["name"])
    for name in ("first", "second"):
        cluster.delete("v1", "Pod", name, "bad")
    show(cluster, good(rule))
    cluster.create(pod("first", "good", Ask(gpus=8, priority="training")))
    cluster.becomes("first", lambda: cluster.bound("good"), 8)
    cluster.create(pod("second", "good", Ask(gpus=8, priority="serving")))
    cluster.becomes(
        "second", lambda: [it["metadata"]["name"] for it in _bound(cluster)], ["second"]
    )


def test_ranks_not_gang_scheduled(cluster: Cluster) -> None:
    """Two jobs of 8 ranks share 8 GPUs: neither is complete. As one pod each, one of them runs."""
    rule = "ranks-not-gang-scheduled"
    cluster.add_nodes(Shape(), 1)
    show(cluster, scene(bad(rule), "bad-0"), scene(bad(rule), "bad-1"))
    cluster.becomes("GPUs in use", cluster.bound, 8)
    assert 0 < cluster.bound("bad-0") < 8
    assert 0 < cluster.bound("bad-1") < 8
    for name in ("bad-0", "bad-1"):
        cluster.delete("apps/v1", "StatefulSet", "training", name)
    cluster.becomes("GPUs in use", cluster.bound, 0)
    show(cluster, scene(good(rule), "good-0"), scene(good(rule), "good-1"))
    held = lambda: sorted(cluster.bound(name) for name in ("good-0", "good-1"))
    cluster.becomes("GPUs in use", held, [0, 8])


def test_ranks_of_a_job_start_separately(cluster: Cluster) -> None:
    """With 4 GPUs, 4 of the 8 ranks hold them."""
    cluster.add_nodes(Shape(gpus=4), 1)
    show(cluster, bad("ranks-not-gang-scheduled", 3))
    cluster.becomes("ranks", lambda: len(cluster.pods("vision")), 8)
    cluster.becomes("GPUs in use", cluster.bound, 4)
    cluster.stays("ranks wait", lambda: len(cluster.waiting("vision")), 4, for_s=1)


def _unplaced(cluster: Cluster, namespace: str) -> list[str]:
    """kube-scheduler's messages about pods for which it found no node."""
    found = (conditions(it).get("PodScheduled") for it in cluster.pods(namespace))
    return [it["message"] for it in found if it and it["status"] == "False"]


def _bound(cluster: Cluster) -> list[Object]:
    return [it for it in cluster.pods("good") if "nodeName" in it["spec"]]
