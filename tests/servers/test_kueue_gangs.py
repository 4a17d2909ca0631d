"""Under Kueue a gang stays within a level of the topology, and does not hold GPUs half started."""

from dataclasses import replace

import pytest
import yaml

from tests.servers.cluster import KUEUE
from tests.servers.nodes import pool_nodes
from tests.servers.scenes import messages, ready
from tests.servers.specs import pool, share, team
from tests.servers.workloads import Ask, job

ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
AWARE = {"topologyAware": True}
WHOLE = "All pods reached readiness and the workload is running"
TIMED_OUT = "Exceeded the PodsReady timeout nlp/job-half-"


def gang(name, pods, gpus, node=None, **topology):
    """A Job whose pods need one domain of a level: required=LEVEL or preferred=LEVEL."""
    wants = {f"kueue.x-k8s.io/podset-{how}-topology": level for how, level in topology.items()}
    selector = {HOST: node} if node else {}
    ask = Ask(gpus=gpus, cpu=f"{12 * gpus}", annotations=wants, node_selector=selector)
    return job(name, "nlp", ask, pods=pods, queue="a100")


@pytest.fixture
def zones(cluster):
    """4 nodes of 8 GPUs, 0 and 1 in zone a, 2 and 3 in zone b.

    The nodes have their zones from the start: Kueue may keep what it decided without them.
    """
    out = ready(
        cluster,
        pool(gpus=32, schedulingPolicy=AWARE, topology={"levels": [ZONE, HOST]}),
        team("nlp", share(guarantee=32)),
        nodes=0,
    )
    shapes = pool_nodes(out.pools["a100"])
    for zone, (name, shape) in zip("aabb", shapes.items(), strict=True):
        shapes[name] = replace(shape, labels={**shape.labels, ZONE: zone})
    cluster.add_named_nodes(shapes)
    return cluster


def test_a_required_level_is_kept(zones):
    """Node 0 is in use, so only zone b has 16 free GPUs."""
    zones.create(gang("busy", 1, 8, node="a100-0"))
    zones.becomes("busy", zones.bound, 8)
    zones.create(gang("wide", 2, 8, required=ZONE))
    want = {"a100-0": 8, "a100-1": 0, "a100-2": 8, "a100-3": 8}
    zones.becomes("GPUs in use", zones.placement, want)


@pytest.mark.parametrize("how, admitted", [("required", 2), ("preferred", 3)])
def test_a_gang_waits_for_a_required_level_and_not_for_a_preferred_one(zones, how, admitted):
    """A node in use in each zone: 16 GPUs are free, 8 in each zone."""
    zones.create(gang("busy-a", 1, 8, node="a100-0"), gang("busy-b", 1, 8, node="a100-2"))
    zones.becomes("busy", zones.bound, 16)
    zones.create(gang("wide", 2, 8, **{how: ZONE}))
    zones.becomes("admitted", lambda: len(zones.admitted("nlp")), admitted)
    zones.stays("admitted", lambda: len(zones.admitted("nlp")), admitted, for_s=1)
    zones.becomes("GPUs in use", zones.bound, 16 if admitted == 2 else 32)


@pytest.mark.parametrize(
    "policy, wants, used",
    [(AWARE, {"required": HOST}, [0, 8]), (AWARE, {"preferred": HOST}, [0, 8]), ({}, {}, [4, 4])],
    ids=["required", "preferred", "unaware"],
)
def test_without_levels_a_node_is_the_level(cluster, policy, wants, used):
    ready(cluster, pool(gpus=16, schedulingPolicy=policy), team("nlp", share(guarantee=16)))
    cluster.create(gang("narrow", 2, 4, **wants))
    cluster.becomes("GPUs in use", lambda: sorted(cluster.placement().values()), used)


def half_a_pool(cluster, **policy):
    """16 GPUs of quota and one node of 8, so that half of a gang of 4 times 4 finds a place."""
    return ready(
        cluster,
        pool(gpus=16, schedulingPolicy=policy),
        team("nlp", share(guarantee=16)),
        nodes=1,
    )


def test_a_half_started_gang_gives_its_gpus_back(cluster):
    out = half_a_pool(cluster)
    configuration = yaml.safe_load(out.kueue_config)
    assert configuration["waitForPodsReady"]["timeout"] == "30m"
    configuration["waitForPodsReady"]["timeout"] = "5s"
    with cluster.kueue(configuration):
        cluster.create(gang("half", 4, 4))
        cluster.becomes("GPUs in use", cluster.bound, 8)
        cluster.becomes("GPUs in use after the time", cluster.bound, 0)
        assert TIMED_OUT in " ".join(messages(cluster, "nlp"))
        cluster.create(gang("whole", 2, 4))
        cluster.becomes("admitted", lambda: cluster.admitted("nlp"), ["whole"])
        cluster.becomes("GPUs in use", cluster.bound, 8)
        cluster.until("a whole one stays", lambda: WHOLE in messages(cluster, "nlp"))


@pytest.mark.parametrize(
    "gates, waits", [({}, True), ({"DisableWaitForPodsReady": True}, False)], ids=["usual", "gate"]
)
def test_without_gangs_kueue_still_waits_for_pods_unless_its_gate_is_set(cluster, gates, waits):
    """As is reported. What it does not wait for has no condition PodsReady."""
    out = half_a_pool(cluster, gangScheduling=False)
    assert "gang-scheduling-false-ignored" in {finding.rule.name for finding in out.findings}
    configuration = yaml.safe_load(out.kueue_config)
    assert "waitForPodsReady" not in configuration
    with cluster.kueue({**configuration, "featureGates": gates}):
        cluster.create(gang("half", 4, 4))
        cluster.becomes("GPUs in use", cluster.bound, 8)
        [workload] = cluster.objects(KUEUE, "Workload", "nlp")
        types = {condition["type"] for condition in workload["status"]["conditions"]}
        assert ("PodsReady" in types) == waits
