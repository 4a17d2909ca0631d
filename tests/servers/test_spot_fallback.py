"""Spot nodes disappear: the fallback takes over only if Kueue knows the nodes of the pools."""

from collections import Counter
from pathlib import Path

import yaml

from tests.servers.cluster import KUEUE
from tests.servers.rendering import rendered
from tests.servers.workloads import GPU, Ask, job

EXAMPLE = Path(__file__).parents[2] / "examples" / "spot-and-on-demand" / "policy.yaml"
MODEL, PODS = "nightly-embeddings", 2
SHORT = {"timeout": "8s", "recoveryTimeout": "3s", "requeuingStrategy": {"backoffBaseSeconds": 1}}
"""Instead of half an hour."""


def example(*, aware):
    """The example with fewer pods, and an image for each model."""
    documents = list(yaml.safe_load_all(EXAMPLE.read_text("utf-8")))
    for document in documents:
        spec = document["spec"]
        if document["kind"] == "Model":
            spec["container"] = {"image": "a"}
            if document["metadata"]["name"] == MODEL:
                spec["replicas"] = PODS
        if document["kind"] == "ResourcePool" and not aware:
            del spec["schedulingPolicy"]["topologyAware"], spec["topology"]
    return rendered(documents, "workloads")


def where(cluster):
    """The pools on whose nodes the pods of the batch model are; empty for pods without a node."""
    pods = cluster.pods("search")
    return Counter(it["spec"].get("nodeName", "").rpartition("-")[0] for it in pods)


def flavors(cluster):
    """The flavors of the batch model's workloads."""
    found = Counter()
    for it in cluster.objects(KUEUE, "Workload", "search"):
        for each in it.get("status", {}).get("admission", {}).get("podSetAssignments", ()):
            found[each["flavors"][GPU]] += 1
    return found


def evictions(cluster):
    """How often Kueue evicted workloads of the batch model."""
    workloads = cluster.objects(KUEUE, "Workload", "search")
    counts = (
        it.get("status", {}).get("schedulingStats", {}).get("evictions", ()) for it in workloads
    )
    return sum(each["count"] for several in counts for each in several)


def remove_spot_nodes(cluster):
    """As a cloud takes them away: the nodes and their pods are gone."""
    nodes = {it["metadata"]["name"] for it in cluster.objects("v1", "Node")}
    gone = {it for it in nodes if it.startswith("h100-spot")}
    for name in gone:
        cluster.delete("v1", "Node", name)
    for pod in cluster.pods():
        if pod["spec"].get("nodeName") in gone:
            cluster.delete("v1", "Pod", pod["metadata"]["name"], pod["metadata"]["namespace"])


def test_workloads_of_vanished_spot_nodes_move_only_with_a_topology(cluster):
    for aware in (False, True):
        out = example(aware=aware)
        reported = {it.rule.name for it in out.findings}
        assert ("spot-without-fallback" in reported) != aware
        configuration = yaml.safe_load(out.kueue_config)
        configuration["waitForPodsReady"] |= SHORT
        with cluster.kube_scheduler(out.scheduler_config), cluster.kueue(configuration):
            cluster.add_nodes(out.pools["h100-spot"], 1)
            if not aware:
                cluster.add_nodes(out.pools["h100-on-demand"], 2)
            cluster.apply(out.text)
            cluster.becomes("spot", lambda: where(cluster), Counter({"h100-spot": PODS}))
            cluster.becomes("serving", lambda: cluster.bound("ads"), 4)
            remove_spot_nodes(cluster)
            if aware:
                moved = Counter({"h100-on-demand": PODS})
                cluster.becomes("moved", lambda: where(cluster), moved)
                assert flavors(cluster) == moved
            else:
                cluster.until("each is evicted", lambda: evictions(cluster) >= 2 * PODS)
                assert set(flavors(cluster)) <= {"h100-spot"}
                assert where(cluster)["h100-on-demand"] == 0
            cluster.becomes("serving runs beside it", lambda: cluster.bound("ads"), 4)
            for name in range(PODS):
                cluster.delete("batch/v1", "Job", f"{MODEL}-{name}", "search")
    # No autoscaler sees a pod that needs a node: without spot nodes there is none.
    big = Ask(gpus=8, node_selector={"cloud.google.com/gke-provisioning": "spot"})
    cluster.create(job("big", "search", big, queue="h100"))
    cluster.until("it waits", lambda: "job-big" in cluster.state())
    cluster.stays("no pod", lambda: cluster.pods("search"), [])
