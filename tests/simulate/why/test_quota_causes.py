"""Why Kueue gives no quota, with hand-computed numbers."""

import pytest

from policygen.simulate.kueue.build import state_of
from policygen.simulate.scene_jobs import arrivals
from policygen.simulate.why.causes import CauseKind, QuotaHolder
from policygen.simulate.why.changes import FewestPodsChange
from policygen.simulate.why.quota_causes import first_of
from tests.simulate.why.waiting import (
    PLAIN,
    SHARED,
    explain,
    flavor,
    job,
    local,
    node,
    priority,
    queue,
    scene,
    thing,
)


def near(found):
    it = found.cause.obstacles[0]
    return it.asked, it.free, it.nominal, it.used, it.most


def test_more_than_the_queue_can_ever_use():
    found = explain("n/a", *PLAIN, job("a", gpus=3, pods=3))
    assert found.cause.kind.value == "above-maximum"
    assert near(found) == (9, 8, 8, 0, 8)


def test_quota_that_others_borrow():
    """r's job uses 14, of which it borrows 6. q may not take them back."""
    found = explain("n/a", *SHARED, job("b", pods=14, to="r"), job("a", pods=3, after="1m"))
    assert found.cause.kind.value == "may-not-preempt"
    assert near(found) == (3, 2, 8, 0, 16)
    assert found.cause.obstacles[0].holders == (QuotaHolder("r", 14, 6, ("n/b",)),)
    assert found.ends == ("n/b",)


def test_a_borrowing_limit():
    limits = {"borrowingLimit": "2"}
    queues = flavor(), queue("q", 4, "c", limits=limits), queue("r", cohort="c"), local()
    found = explain("n/a", *queues, job("b", pods=5), job("a", pods=2))
    assert found.cause.kind.value == "borrowing-limit"
    assert near(found) == (2, 1, 4, 5, 6)


def test_quota_that_is_not_lent():
    """q can use 4 and 2 of r. 3 are in use, and r keeps 6."""
    limits = {"lendingLimit": "2"}
    queues = flavor(), queue("q", 4, "c"), queue("r", 8, "c", limits=limits), local()
    found = explain("n/a", *queues, job("b", pods=3), job("a", pods=4))
    assert found.cause.kind.value == "not-lent"
    assert found.cause.obstacles[0].idle == 6


def test_a_strict_queue_waits_for_its_head():
    queues = flavor(), queue("q", queueingStrategy="StrictFIFO"), local(), priority("high", 9)
    found = explain("n/a", *queues, job("head", pods=9, rank="high"), job("a"))
    assert (found.cause.kind.value, found.cause.names) == ("behind-queue-head", ("n/head",))


def test_an_eviction_can_put_the_head_of_a_strict_queue_behind_others():
    queues = flavor(), queue("q", queueingStrategy="StrictFIFO"), local()
    made = scene(*queues, job("a", pods=9), job("b", after="1m"))
    strict = state_of(made.cluster).queues["q"]
    workloads = [it.workload for it in arrivals(made)]
    for it in workloads:
        strict.pending.push(it)
    assert first_of(strict).name == workloads[0].name
    strict.pending.remove(workloads[0])
    workloads[0].behind = 300.0
    strict.pending.push(workloads[0])
    assert first_of(strict).name == workloads[1].name


@pytest.mark.parametrize(
    "spec, selector",
    [
        ({"nodeLabels": {"gpu": "a"}}, {"gpu": "b"}),
        ({"nodeTaints": [{"key": "k", "effect": "NoSchedule"}]}, {}),
    ],
)
def test_a_flavor_that_refuses_the_pods(spec, selector):
    found = explain("n/a", flavor(**spec), queue("q"), local(), job("a", nodeSelector=selector))
    assert found.cause.kind.value == "no-flavor-matches"
    assert [it.flavors for it in found.remedies] == [("f",)]


def test_a_resource_without_quota():
    found = explain("n/a", *PLAIN, job("a", resource="amd.com/gpu"))
    assert found.cause.kind.value == "resource-without-quota"
    assert found.cause.obstacles[0].resource == "amd.com/gpu"


HOST = "kubernetes.io/hostname"
TOPOLOGY = (
    thing("Topology", "t", {"levels": [{"nodeLabel": HOST}]}),
    flavor(nodeLabels={"gpu": "a"}, topologyName="t"),
    queue("q", 100),
    local(),
)


def hosts(*names):
    return [
        {**node(it), "metadata": {"name": it, "labels": {"gpu": "a", HOST: it}}} for it in names
    ]


def together(name, gpus, pods=1, level=HOST, **more):
    """A job whose pods must run on one node."""
    found = job(name, gpus, pods, **more)
    annotations = {"kueue.x-k8s.io/podset-required-topology": level}
    found["spec"]["template"]["metadata"] = {"annotations": annotations}
    return found


def test_the_domains_of_a_topology():
    """The quota is free. Each node has 8 GPUs, and holds a job with 6."""
    things = (*TOPOLOGY, *hosts("h0", "h1"), together("b", 6), together("c", 6))
    full = explain("n/a", *things, together("a", 2, 2, after="1m"))
    assert full.cause.kind.value == "topology-domains-full"
    assert full.cause.message == (
        'couldn\'t assign flavors to pod set main: topology "t" allows to fit only 1 out of 2 pod(s)'
    )
    never = explain("n/a", *things, together("a", 2, 5, after="1m"))
    assert never.cause.kind.value == "topology-domains-too-small"


def test_a_flavor_without_the_topology():
    found = explain("n/a", *TOPOLOGY, *hosts("h0"), together("a", 1, level="rack"))
    (obstacle,) = found.cause.obstacles
    assert (found.cause.kind.value, obstacle.kind.value) == (
        "no-flavor-matches",
        "topology-refused",
    )


def with_fewest(fewest, **more):
    it = job("a", pods=6, after="1m", **more)
    it["metadata"]["annotations"]["kueue.x-k8s.io/job-min-parallelism"] = str(fewest)
    return it


def test_the_fewest_pods_decide_about_a_job_that_can_run_with_fewer():
    """The quota of 5 never holds all 6 pods, but 3 of them when b has ended."""
    found = explain("n/a", flavor(), queue("q", 5), local(), job("b", pods=3), with_fewest(3))
    assert (found.cause.kind, found.cause.lasts) == (CauseKind.NO_FREE_QUOTA, False)
    (one,) = found.cause.obstacles
    assert (one.asked, one.free, found.cause.fewest, found.cause.pods) == (3, 2, 3, 6)
    assert found.ends == ("n/b",)
    assert "current podset request (6) > maximum capacity (5)" in found.cause.message


def test_the_fewest_pods_are_too_many():
    found = explain("n/a", flavor(), queue("q", 5), local(), job("b", pods=3), with_fewest(6))
    assert found.cause.kind is CauseKind.ABOVE_MAXIMUM


def test_changes_keep_what_pods_ask_of_a_topology():
    """Racks have two nodes with 4 GPUs, so 3 pods with 4 GPUs find no rack, but 2 do."""
    levels = [{"nodeLabel": "rack"}, {"nodeLabel": "kubernetes.io/hostname"}]
    of = {"kubernetes.io/hostname": "", "gpu": "a"}
    nodes = []
    for rack in "xy":
        for i in range(2):
            it = node(f"{rack}{i}", 4)
            it["metadata"]["labels"] = {**of, "rack": rack, "kubernetes.io/hostname": f"{rack}{i}"}
            nodes.append(it)
    asked = job("a", gpus=4, pods=3)
    asked["spec"]["template"]["metadata"] = {
        "annotations": {"kueue.x-k8s.io/podset-required-topology": "rack"}
    }
    topology = thing("Topology", "t", {"levels": levels})
    tas = flavor("f", nodeLabels={"gpu": "a"}, topologyName="t")
    found = explain("n/a", topology, tas, queue("q", 16), local(), *nodes, asked)
    assert found.cause.kind is CauseKind.TOPOLOGY_TOO_SMALL
    assert [it.changes for it in found.remedies] == [(FewestPodsChange("main", 3, 2, 3),)]
