"""PriorityClasses: which pods may evict which others, by pool."""

import pytest

from tests.servers.rendering import rendered
from tests.servers.scenes import ready
from tests.servers.specs import platform, pool, share, team
from tests.servers.test_kueue_order import MODEST, NORMAL, URGENT
from tests.servers.workloads import Ask, job, pod

PLAIN = {"scheduler": "kube-scheduler"}
L4 = {"resource": "l4.example.com/gpu"}


def asks(priority):
    """A whole node at this rank."""
    return Ask(gpus=8, priority=priority)


def running(cluster, namespace):
    """Names of pods on a node, of Jobs without what their controller adds."""
    return [
        each["metadata"].get("labels", {}).get("job-name", each["metadata"]["name"])
        for each in cluster.pods(namespace)
        if each["spec"].get("nodeName")
    ]


@pytest.mark.parametrize(
    "high, policy, stays",
    [
        ("urgent", {}, "high"),
        ("modest", {}, "low"),
        ("urgent", {"preemptionEnabled": False}, "low"),
    ],
    ids=["preempts", "preempts-not", "pool-without-preemption"],
)
def test_kube_scheduler_evicts_if_priority_and_pool_allow_it(cluster, high, policy, stays):
    """There is one node and each pod needs all of it: the second pod evicts the first, or waits."""
    ready(
        cluster,
        platform(URGENT, NORMAL, MODEST),
        pool(gpus=16, schedulingPolicy=policy, **PLAIN),
        team("web", share(limit=16)),
        nodes=1,
    )
    cluster.create(pod("low", "web", asks("normal")))
    cluster.becomes("running", lambda: running(cluster, "web"), ["low"])
    cluster.create(pod("high", "web", asks(high)))
    cluster.becomes("running", lambda: running(cluster, "web"), [stays])
    cluster.stays("running", lambda: running(cluster, "web"), [stays])


@pytest.mark.parametrize(
    "high, stays", [("urgent", "low"), ("urgent.preempting", "high")], ids=["kueue", "preempting"]
)
def test_kube_scheduler_evicts_nothing_that_kueue_admitted(cluster, high, stays):
    """16 GPUs of quota and one node of 8: Kueue admits both, and the second one waits for a node.

    With the class for the platform's other pool, the control, it would evict the first.
    """
    ready(
        cluster,
        platform(URGENT, NORMAL),
        pool(gpus=16),
        pool("l4", gpu=L4, **PLAIN),
        team("nlp", share(guarantee=16), share("l4")),
        nodes=1,
    )
    cluster.create(job("low", "nlp", asks("normal"), queue="a100", kueue_priority="normal"))
    cluster.becomes("running", lambda: running(cluster, "nlp"), ["low"])
    cluster.create(job("high", "nlp", asks(high), queue="a100", kueue_priority="urgent"))
    cluster.becomes("admitted", lambda: cluster.admitted("nlp"), ["high", "low"])
    cluster.becomes("running", lambda: running(cluster, "nlp"), [stays])
    cluster.stays("running", lambda: running(cluster, "nlp"), [stays])


def test_the_preempting_class_of_a_mixed_platform_preempts(cluster):
    """On its kube-scheduler pool, where the plain class of the same rank waits."""
    documents = [
        platform(URGENT, NORMAL),
        pool("a100"),
        pool("l4", 16, gpu=L4, **PLAIN),
        team("web", share("a100"), share("l4", limit=16)),
    ]
    out = rendered(documents)
    assert set(out.of("PriorityClass")) == {
        "normal",
        "normal.preempting",
        "urgent",
        "urgent.preempting",
    }
    cluster.apply(out.text)
    cluster.add_nodes(out.pools["l4"], 1)
    resource = L4["resource"]
    whole = lambda name: Ask(gpus=8, resource=resource, priority=name)
    cluster.create(pod("low", "web", whole("normal.preempting")))
    cluster.becomes("running", lambda: running(cluster, "web"), ["low"])
    cluster.create(pod("patient", "web", whole("urgent")))
    cluster.stays("running", lambda: running(cluster, "web"), ["low"], for_s=1)
    cluster.delete("v1", "Pod", "patient", "web")
    cluster.create(pod("high", "web", whole("urgent.preempting")))
    cluster.becomes("running", lambda: running(cluster, "web"), ["high"])


def test_kueue_ranks_by_the_pods_class_where_a_job_names_no_other(cluster):
    """Both classes of a priority have its value, so the order is the same either way."""
    out = ready(
        cluster,
        platform(URGENT, NORMAL),
        pool(),
        team("nlp", share(guarantee=8)),
    )
    values = {
        kind: {name: each["value"] for name, each in out.of(kind).items()}
        for kind in ("PriorityClass", "WorkloadPriorityClass")
    }
    assert values["PriorityClass"] == values["WorkloadPriorityClass"]
    cluster.create(job("low", "nlp", asks(None), queue="a100", kueue_priority="normal"))
    cluster.becomes("running", lambda: running(cluster, "nlp"), ["low"])
    cluster.create(job("high", "nlp", asks("urgent"), queue="a100"))
    cluster.becomes("running", lambda: running(cluster, "nlp"), ["high"])
    assert cluster.admitted("nlp") == ["high"]
