"""Karpenter adds the nodes of a NodePool up to its limits, and Kueue admits up to the quotas."""

from pathlib import Path

import pytest
import yaml

from tests.servers.karpenter import REFERENCE, karpenter
from tests.servers.pages import bad, good
from tests.servers.rendering import rendered
from tests.servers.test_other_tools import install
from tests.servers.upstream import KARPENTER_KWOK
from tests.servers.workloads import Ask, job

EXAMPLE = Path(__file__).parents[2] / "examples" / "node-autoscalers" / "policy.yaml"
WHOLE = Ask(gpus=8, cpu="8", memory="64Gi")
RULE = "node-pool-below-quotas"


@pytest.fixture
def growing(cluster, tools):
    """A cluster in which Karpenter adds nodes."""
    install(cluster, tools, KARPENTER_KWOK)
    with karpenter(cluster, tools["karpenter"]):
        yield cluster


def of_bench(text):
    """Objects, whose NodePools name the NodeClass of the bench."""
    things = list(yaml.safe_load_all(text))
    for it in things:
        if it["kind"] == "NodePool":
            it["spec"]["template"]["spec"]["nodeClassRef"] = REFERENCE
    return yaml.safe_dump_all(things)


def nodes(cluster):
    return len(cluster.objects("v1", "Node"))


def test_no_node_is_added_above_the_limits_of_node_pools(growing):
    growing.apply(of_bench(bad(RULE)))
    growing.create(*(job(f"job-{it}", "vision", WHOLE, queue="h100") for it in range(7)))
    growing.becomes("admitted", lambda: len(growing.admitted("vision")), 6)
    growing.becomes("nodes", lambda: nodes(growing), 4)
    growing.becomes("GPUs in use", lambda: growing.bound("vision"), 32)
    growing.stays("pods without a node", lambda: len(growing.waiting("vision")), 2)
    growing.apply(of_bench(good(RULE)))
    growing.becomes("GPUs in use", lambda: growing.bound("vision"), 48)
    growing.stays("nodes", lambda: nodes(growing), 6)


def test_a_rendered_node_pool_adds_a_node_for_each_job_and_removes_it_when_empty(growing):
    """The queue admits what the limits of the NodePool allow, and no node with a pod is removed."""
    out = rendered(EXAMPLE.read_text("utf-8"), "node-autoscaler")
    growing.apply(of_bench(out.text))
    growing.create(*(job(f"job-{it}", "vision", WHOLE, queue="h100") for it in range(7)))
    growing.becomes("admitted", lambda: len(growing.admitted("vision")), 6)
    growing.becomes("GPUs in use", lambda: growing.bound("vision"), 48)
    growing.stays("nodes", lambda: nodes(growing), 6)
    ended, *kept = growing.admitted("vision")
    before = pods_of(growing, kept)
    (waiting,) = {f"job-{it}" for it in range(7)} - {ended, *kept}
    for name in (waiting, ended):
        growing.delete("batch/v1", "Job", name, "vision")
    growing.becomes("nodes", lambda: nodes(growing), 5)
    growing.stays("pods of the other jobs", lambda: pods_of(growing, kept), before)


def pods_of(cluster, jobs):
    """The names and nodes of the pods of Jobs."""
    return {
        (it["metadata"]["name"], it["spec"].get("nodeName"))
        for it in cluster.pods("vision")
        if it["metadata"]["labels"]["job-name"] in jobs
    }
