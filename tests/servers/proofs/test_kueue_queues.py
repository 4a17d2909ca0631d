"""Rules of queues that admit more than they should, or count differently than they look."""

from fractions import Fraction

import pytest

from policygen.core.quantity import parse
from tests.servers import pages
from tests.servers.cluster import KUEUE
from tests.servers.proofs.scene import Scene, part
from tests.servers.rendering import json_documents
from tests.servers.workloads import KUEUE_QUEUE, Ask

WHOLE = Ask(gpus=8, cpu="16", memory="64Gi", node_selector={"pool": "a100"})


def test_cluster_queue_open_to_all(stage):
    """Another user makes a LocalQueue for the queue in another namespace."""
    bad, good = scenes = stage.both("cluster-queue-open-to-all")
    for scene in scenes:
        door = {
            "apiVersion": KUEUE,
            "kind": "LocalQueue",
            "metadata": {"name": "a100", "namespace": scene.of("else")},
            "spec": {"clusterQueue": scene.of("speech.a100")},
        }
        stage.cluster.create(door)
        scene.queues.append(("else", "a100"))
    stage.send(*(scene.jobs(namespace="else") for scene in scenes))
    stage.becomes("admitted", {bad: 1}, lambda it: it.held("else"))
    said = "workload namespace doesn't match ClusterQueue selector"
    stage.becomes("message", {good: said}, lambda it: part(said, it.messages("else")))
    stage.stays("admitted", {good: 0}, lambda it: it.held("else"))


def test_local_queue_named_default(stage):
    """A Job that names no queue."""
    bad, good = scenes = stage.both("local-queue-named-default")
    for scene in scenes:
        for each in scene.jobs():
            del each["metadata"]["labels"][KUEUE_QUEUE]
            stage.send([each])
    queue = lambda it: [each["spec"]["queueName"] for each in it.workloads()]
    stage.becomes("Workloads", {bad: ["default"]}, queue)
    stage.becomes("pods", {good: 1}, lambda it: len(it.pods()))
    stage.stays("Workloads", {good: []}, queue)


@pytest.mark.parametrize(
    ("number", "resource", "written"), [(0, "nvidia.com/gpu", "8"), (1, "cpu", "6")]
)
def test_limits_not_counted(stage, number, resource, written):
    """What Kueue counts for the Job of the page, and what its pod then requests."""
    bad, good = scenes = stage.both("limits-not-counted", number)
    stage.add(*(scene.nodes(1, labels={"pool": "a100"}) for scene in scenes))
    counts = lambda it: [_usage(each)[resource] for each in it.workloads() if _usage(each)]
    stage.becomes("counted", {bad: [["0", "1"][number]], good: [written]}, counts)
    real = lambda it: [
        each["spec"]["containers"][0]["resources"]["requests"][resource] for each in it.pods()
    ]
    stage.becomes("requested", {bad: [written], good: [written]}, real)


def _usage(workload):
    """What Kueue charges for an admitted Workload."""
    found = workload.get("status", {}).get("admission", {}).get("podSetAssignments", [{}])
    return found[0].get("resourceUsage", {})


def test_queue_in_unmanaged_namespace(stage):
    """Two Jobs request the full quota each, and there are nodes for both: both run at once."""
    bad, good = scenes = stage.both("queue-in-unmanaged-namespace")
    stage.add(*(scene.nodes(2, labels={"pool": "a100"}) for scene in scenes))
    stage.send(*(scene.jobs(2, WHOLE) for scene in scenes))
    stage.becomes("GPUs in use", {bad: 16, good: 8}, Scene.bound)
    stage.becomes("Workloads", {bad: 0, good: 2}, lambda it: len(it.workloads()))
    stage.stays("GPUs in use", {good: 8}, Scene.bound)


def test_quota_fractional(stage):
    """A Job of eight GPUs, and a quota of seven and a half."""
    bad, good = scenes = stage.both("quota-fractional")
    stage.send(*(scene.jobs(2, WHOLE) for scene in scenes))
    stage.becomes("admitted", {bad: 1, good: 1}, Scene.held)
    stage.stays("admitted", {bad: 1, good: 1}, Scene.held)
    amount = {scene: parse(str(quotas(written(scene))[-1])).value for scene in scenes}
    assert {scene: 8 - amount[scene] for scene in scenes} == {bad: Fraction(1, 2), good: 0}


def test_quota_not_canonical(stage):
    """What is read back is not what was written."""
    bad, good = scenes = stage.both("quota-not-canonical")
    for scene in scenes:
        found = quotas(stage.cluster.get(KUEUE, "ClusterQueue", scene.of("vision.a100")))
        same = [str(each) for each in quotas(written(scene))] == found
        assert same == (scene is good), (scene, found)
    assert quotas(written(bad)) != quotas(written(good))


def written(scene):
    """The ClusterQueue of its page."""
    [queue] = [each for each in scene.things if each["kind"] == "ClusterQueue"]
    return queue


def quotas(queue):
    """The nominalQuota of each resource."""
    [flavor] = queue["spec"]["resourceGroups"][0]["flavors"]
    return [each["nominalQuota"] for each in flavor["resources"]]


def test_too_many_flavors_for_status(stage):
    """65 flavors: a Job runs, and neither the queue nor its LocalQueue knows of it."""
    rule = "too-many-flavors-for-status"
    bad = Scene(stage.cluster, pages.bad(rule), f"{rule}-bad")
    good = Scene(stage.cluster, pages.good(rule, 1), f"{rule}-good")
    scenes = (bad, good)
    stage.put(*scenes, every_flavor(bad))
    stage.send(*(scene.jobs() for scene in scenes))
    stage.becomes("admitted", {bad: 1, good: 1}, Scene.held)
    counted = {"ClusterQueue": 1, "LocalQueue": 1}
    stage.becomes("counted", {good: counted}, in_status)
    stage.stays("counted", {bad: {"ClusterQueue": None, "LocalQueue": None}}, in_status)


def every_flavor(scene):
    """The ResourceFlavors that the page omits."""
    groups = written(scene)["spec"]["resourceGroups"]
    names = [scene.page(flavor["name"]) for group in groups for flavor in group["flavors"]]
    head = {"apiVersion": KUEUE, "kind": "ResourceFlavor"}
    made = ({**head, "metadata": {"name": name}, "spec": {}} for name in names)
    return Scene(scene.cluster, json_documents(list(made)), scene.tag)


def in_status(scene):
    """How many admitted workloads each kind of queue counts; None: it has no status."""
    queues = {
        "ClusterQueue": (scene.of("vision.a100"), None),
        "LocalQueue": ("a100", scene.of("vision")),
    }
    return {
        kind: scene.cluster.get(KUEUE, kind, *place).get("status", {}).get("admittedWorkloads")
        for kind, place in queues.items()
    }
