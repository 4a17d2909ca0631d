"""Two kinds of priorities that contradict each other, and a deprecated API version."""

from __future__ import annotations

import pytest

from tests.servers.cluster import Cluster
from tests.servers.nodes import Shape
from tests.servers.pages import bad, good
from tests.servers.proofs.examples import documents, show
from tests.servers.rendering import json_documents
from tests.servers.workloads import Ask, job


def test_priority_orders_disagree(cluster: Cluster) -> None:
    """8 GPUs of quota on a node of 4: kube-scheduler evicts the job that Kueue ranks first."""
    rule = "priority-orders-disagree"
    show(cluster, good(rule))
    for it in documents(good(rule)):
        if it["kind"] == "PriorityClass":
            cluster.delete(it["apiVersion"], it["kind"], it["metadata"]["name"])
    cluster.add_nodes(Shape(gpus=4, labels={"pool": "a100"}), 1)
    for name, text, runs in (("bad", bad(rule), "bulk"), ("good", good(rule), "urgent")):
        show(cluster, text)
        for rank in ("urgent", "bulk"):
            asked = Ask(gpus=4, cpu="1", memory="1Gi", priority=rank)
            cluster.create(job(rank, "vision", asked, queue="a100", kueue_priority=rank))
            cluster.until("admitted", lambda rank=rank: rank in cluster.admitted("vision"))
            cluster.until("placed", lambda rank=rank: _looked_for(cluster, rank))
        cluster.becomes(name, lambda: _running(cluster), [runs])
        cluster.stays(name, lambda: _running(cluster), [runs], for_s=1)
        for rank in ("urgent", "bulk"):
            cluster.delete("batch/v1", "Job", rank, "vision")
            cluster.delete("scheduling.k8s.io/v1", "PriorityClass", rank)
        cluster.becomes("gone", lambda: cluster.pods("vision"), [])


@pytest.mark.parametrize("number", [1, 2])
def test_jobs_whose_classes_disagree(cluster: Cluster, number: int) -> None:
    """The same with classes of other names, in one queue or two; with preemptionPolicy Never no pod is evicted."""
    rule = "priority-orders-disagree"
    cluster.add_nodes(Shape(gpus=4, labels={"pool": "a100"}), 1)
    for name, text, runs in (
        ("bad", bad(rule, number), "sweep"),
        ("good", good(rule, number), "release"),
    ):
        things = documents(text)
        jobs = {it["metadata"]["name"]: it for it in things if it["kind"] == "Job"}
        show(cluster, json_documents([it for it in things if it["kind"] != "Job"]))
        for rank in ("release", "sweep"):
            cluster.create(jobs[rank])
            cluster.until("admitted", lambda rank=rank: rank in cluster.admitted("vision"))
            cluster.until("placed", lambda rank=rank: _looked_for(cluster, rank))
        cluster.becomes(name, lambda: _running(cluster), [runs])
        cluster.stays(name, lambda: _running(cluster), [runs], for_s=1)
        for rank in jobs:
            cluster.delete("batch/v1", "Job", rank, "vision")
        cluster.delete("scheduling.k8s.io/v1", "PriorityClass", "rush")
        cluster.becomes("gone", lambda: cluster.pods("vision"), [])


def test_kueue_version_outdated(cluster: Cluster) -> None:
    """The API server warns of what it may no longer serve."""
    rule = "kueue-version-outdated"
    show(cluster, good(rule))
    [(_, warning)] = cluster.apply(bad(rule)).warnings
    assert warning == "This version is deprecated. Use v1beta2 instead."
    assert cluster.apply(good(rule)).warnings == []


def _looked_for(cluster: Cluster, rank: str) -> bool:
    """Whether kube-scheduler has had a job's pod."""
    return any(
        it["metadata"]["labels"]["job-name"] == rank and it["status"].get("conditions")
        for it in cluster.pods("vision")
    )


def _running(cluster: Cluster) -> list[str]:
    """Names of jobs with a pod on a node."""
    return [
        it["metadata"]["labels"]["job-name"]
        for it in cluster.pods("vision")
        if "nodeName" in it["spec"]
    ]
