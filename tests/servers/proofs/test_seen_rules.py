"""Findings of rules about a live cluster: with the fault, and after it is fixed.

Tests pass the time of a snapshot instead of waiting: it can be taken as if a day had passed.
"""

from datetime import timedelta
from time import sleep

import yaml

from tests.servers.cluster import KUEUE, SCHEDULING
from tests.servers.nodes import Shape
from tests.servers.pages import bad
from tests.servers.scenes import ready
from tests.servers.seen import messages
from tests.servers.specs import pool, share, team
from tests.servers.workloads import Ask, job, pod

DAY = timedelta(hours=25)
HOURS = timedelta(hours=2)
ASK = Ask(gpus=8)


def declared(rule):
    """The objects of a page's bad example without their status, which controllers write."""
    documents = list(yaml.safe_load_all(bad(rule)))
    for each in documents:
        each.pop("status", None)
        each["metadata"].pop("creationTimestamp", None)
    return [each for each in documents if each["kind"] not in {"Node", "Pod", "Workload"}]


def pending(cluster, namespace="nlp"):
    """Kueue's Workloads whose conditions report that they have no quota."""
    return [
        each
        for each in cluster.objects(KUEUE, "Workload", namespace)
        for condition in each.get("status", {}).get("conditions", [])
        if condition["type"] == "QuotaReserved" and condition["status"] == "False"
    ]


def test_cluster_queue_not_active(cluster):
    cluster.apply(yaml.safe_dump_all(declared("cluster-queue-not-active")))
    rule = "cluster-queue-not-active"
    cluster.until("inactive", lambda: "AdmissionCheckInactive" in "".join(messages(cluster, rule)))
    (message,) = messages(cluster, rule)
    assert message.startswith("ClusterQueue vision.a100: ")
    active = {"type": "Active", "status": "True", "reason": "Up", "message": ""}
    active["lastTransitionTime"] = "2026-11-21T00:00:00Z"
    status = {"status": {"conditions": [active]}}
    cluster.patch(KUEUE, "AdmissionCheck", "capacity", status, subresource="status")
    cluster.becomes("reported", lambda: messages(cluster, rule), [])


def test_workload_pending_long(cluster):
    ready(cluster, pool(gpus=8), team("nlp", share(guarantee=8)))
    cluster.create(*(job(f"j{i}", "nlp", ASK, queue="a100") for i in range(2)))
    cluster.until("pending", lambda: pending(cluster))
    rule = "workload-pending-long"
    assert messages(cluster, rule) == []
    (message,) = messages(cluster, rule, later=DAY)
    assert message.startswith("Workload nlp/job-j")
    assert "has waited for 25h" in message
    assert "insufficient unused quota" in message
    for name in ("j0", "j1"):
        cluster.delete("batch/v1", "Job", name, "nlp")
    cluster.becomes("reported", lambda: messages(cluster, rule, later=DAY), [])


def later(cluster):
    return [it for it in cluster.admitted("nlp") if it.startswith("later-")]


def test_workload_starves(cluster):
    """Later jobs take each four GPUs that become free, until the large one gets a higher priority."""
    ready(cluster, pool(gpus=8), team("nlp", share(guarantee=8)))
    half = Ask(gpus=4)
    cluster.create(
        job("first-0", "nlp", half, queue="a100"), job("first-1", "nlp", half, queue="a100")
    )
    cluster.becomes("admitted", lambda: cluster.admitted("nlp"), ["first-0", "first-1"])
    cluster.create(job("large", "nlp", ASK, queue="a100"))
    cluster.until("pending", lambda: pending(cluster))
    sleep(1.1)  # creation times are in whole seconds
    cluster.create(
        job("later-0", "nlp", half, queue="a100"), job("later-1", "nlp", half, queue="a100")
    )
    cluster.until("known", lambda: len(cluster.objects(KUEUE, "Workload", "nlp")) == 5)
    rule = "workload-starves"
    assert messages(cluster, rule, later=DAY) == []  # those that run were there before it
    for number in (0, 1):
        cluster.delete("batch/v1", "Job", f"first-{number}", "nlp")
        cluster.until("admitted", lambda n=number: len(later(cluster)) == n + 1)
    assert messages(cluster, rule) == []
    (message,) = messages(cluster, rule, later=DAY)
    assert message.startswith("Workload nlp/job-large")
    assert "would admit it without 2 Workloads of ClusterQueue nlp.a100" in message
    assert "WorkloadPriorityClass with a higher value, so that Kueue preempts them" in message
    urgent = {"apiVersion": KUEUE, "kind": "WorkloadPriorityClass", "metadata": {"name": "urgent"}}
    cluster.create(urgent | {"value": 1000})
    labels = {"metadata": {"labels": {"kueue.x-k8s.io/priority-class": "urgent"}}}
    cluster.patch("batch/v1", "Job", "large", labels, "nlp")
    cluster.becomes("admitted", lambda: cluster.admitted("nlp"), ["large"])


def test_gang_pending_long(cluster):
    documents = declared("gang-pending-long")
    cluster.apply(yaml.safe_dump_all(documents))
    cluster.until(
        "pending", lambda: cluster.phases("vision").get("train") in {"Pending", "Inqueue"}
    )
    rule = "gang-pending-long"
    assert messages(cluster, rule) == []
    (message,) = messages(cluster, rule, later=DAY)
    assert message.startswith(
        'PodGroup vision/train: PodGroup vision/train of queue "vision.a100" has been'
    )
    cluster.delete(SCHEDULING, "PodGroup", "train", "vision")
    assert messages(cluster, rule, later=DAY) == []


def test_pod_unscheduled_long(cluster):
    """Two nodes have four free GPUs each, so a pod that requests eight fits no node."""
    cluster.add_nodes(Shape(gpus=8), 2)
    small = Ask(gpus=4)
    for node in ("node-0", "node-1"):
        on = Ask(gpus=4, node_selector={"kubernetes.io/hostname": node})
        cluster.create(pod(f"half-of-{node}", "team", on))
    cluster.becomes("bound", cluster.bound, 8)
    cluster.create(pod("whole", "team", ASK), pod("small", "team", small))
    cluster.becomes("bound", cluster.bound, 12)
    rule = "pod-unscheduled-long"
    assert messages(cluster, rule) == []
    (message,) = cluster.until("reported", lambda: messages(cluster, rule, later=HOURS))
    assert "Pod team/whole with 8 nvidia.com/gpu has fit no node for 2h" in message
    cluster.delete("v1", "Pod", "whole", "team")
    assert messages(cluster, rule, later=HOURS) == []


def test_gpu_held_unused(cluster):
    """A finalizer keeps a deleted pod, and with it the GPUs that the next one needs."""
    cluster.add_nodes(Shape(gpus=8))
    cluster.create(pod("old", "team", ASK))
    cluster.becomes("bound", cluster.bound, 8)
    held = {"metadata": {"finalizers": ["example.com/held"]}}
    cluster.patch("v1", "Pod", "old", held, "team")
    cluster.delete("v1", "Pod", "old", "team")
    cluster.create(pod("next", "team", ASK))
    cluster.stays("bound", cluster.bound, 0, for_s=1)
    rule = "gpu-held-unused"
    assert messages(cluster, rule) == []
    (message,) = messages(cluster, rule, later=HOURS)
    assert (
        "the GPUs of Pod team/old are unused (8 nvidia.com/gpu on node node-0): the pod was deleted 2h"
        in message
    )
    cluster.patch("v1", "Pod", "old", {"metadata": {"finalizers": None}}, "team")
    cluster.becomes("bound", cluster.bound, 8)
    assert messages(cluster, rule, later=HOURS) == []


def test_pod_bypasses_queue(cluster):
    """Kueue admits eight GPUs on a node of which a pod has four: what it admits finds no node."""
    out = ready(cluster, pool(gpus=8), team("nlp", share(guarantee=8)))
    stranger = Ask(gpus=4, node_selector={"pool": "a100"})
    cluster.create(pod("stranger", "other", stranger))
    cluster.becomes("bound", cluster.bound, 4)
    cluster.create(job("mine", "nlp", ASK, queue="a100"))
    cluster.becomes("admitted", lambda: cluster.admitted("nlp"), ["mine"])
    cluster.stays("bound", cluster.bound, 4, for_s=1)
    rule = "pod-bypasses-queue"
    (message,) = messages(cluster, rule, spec=out.spec)
    assert message.startswith("Pod other/stranger: ")
    assert "need 8 nvidia.com/gpu, but these pods leave only 4" in message
    cluster.delete("v1", "Pod", "stranger", "other")
    cluster.becomes("bound", lambda: cluster.bound("nlp"), 8)
    assert messages(cluster, rule, spec=out.spec) == []


def test_pod_bypasses_scheduler(cluster):
    """What kube-scheduler gave away on a Volcano pool no reclaim brings back to its owner."""
    out = ready(cluster, pool(gpus=8, scheduler="volcano"), team("nlp", share("a100", guarantee=8)))
    cluster.create(pod("stranger", "other", Ask(gpus=4, node_selector={"pool": "a100"})))
    cluster.becomes("bound", cluster.bound, 4)
    rule = "pod-bypasses-scheduler"
    (message,) = messages(cluster, rule, spec=out.spec)
    assert "with schedulerName: default-scheduler" in message
    assert "these pods leave only 4" in message
    mine = Ask(
        gpus=8,
        scheduler="volcano",
        annotations={"scheduling.volcano.sh/queue-name": "nlp.a100"},
        node_selector={"pool": "a100"},
    )
    cluster.create(pod("mine", "nlp", mine))
    cluster.stays("bound", lambda: cluster.bound("nlp"), 0, for_s=2)
    cluster.delete("v1", "Pod", "stranger", "other")
    cluster.becomes("bound", lambda: cluster.bound("nlp"), 8)
    assert messages(cluster, rule, spec=out.spec) == []


def test_quota_used_up(cluster):
    cluster.namespace("vision")
    cluster.apply(yaml.safe_dump_all(declared("quota-used-up")))
    cluster.until(
        "counted",
        lambda: cluster.get("v1", "ResourceQuota", "gpus", "vision")["status"].get("used"),
    )
    cluster.create(pod("four", "vision", Ask(gpus=4)))
    assert messages(cluster, "quota-used-up") == []
    cluster.create(pod("more", "vision", Ask(gpus=4)))
    (message,) = cluster.until("reported", lambda: messages(cluster, "quota-used-up"))
    assert "8 of 8 requests.nvidia.com/gpu" in message
    assert "exceeded quota" in cluster.refusal(pod("next", "vision", Ask(gpus=1)))


def test_workload_deactivated(cluster):
    """No node: its pod is never ready, and Kueue gives up after the first try."""
    rule = "workload-deactivated"
    out = ready(
        cluster,
        pool(gpus=8, schedulingPolicy={"gangScheduling": True}),
        team("nlp", share(guarantee=8)),
        nodes=0,
    )
    configuration = yaml.safe_load(out.kueue_config)
    configuration["waitForPodsReady"] |= {
        "timeout": "1s",
        "requeuingStrategy": {"backoffLimitCount": 0},
    }
    with cluster.kueue(configuration):
        cluster.create(job("never", "nlp", ASK, queue="a100"))
        (message,) = cluster.until("reported", lambda: messages(cluster, rule))
    assert message.startswith("Workload nlp/job-never")
    assert "DeactivatedDueToRequeuingLimitExceeded" in message
    (workload,) = cluster.objects(KUEUE, "Workload", "nlp")
    assert workload["spec"]["active"] is False
    cluster.delete("batch/v1", "Job", "never", "nlp")
    cluster.becomes("reported", lambda: messages(cluster, rule), [])
