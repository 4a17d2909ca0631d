"""Pods that a ResourceQuota refuses."""

import pytest

from policygen.report import cause_words
from policygen.simulate.instant import instant
from policygen.simulate.scene_jobs import arrivals
from policygen.simulate.why.causes import WaitingPods
from policygen.simulate.why.changes import FieldChange, PodsChange, RequestChange
from policygen.simulate.why.explainer import Explainer
from policygen.simulate.why.refused_pods import wanted_pods
from tests.simulate.why.waiting import GPU, PLAIN, explain, job, job_set, node, scene, thing

KEY = f"requests.{GPU}"


def quota(name="rq", used=None, **hard):
    it = thing("ResourceQuota", name, {"hard": hard}, "n", "v1")
    return it if used is None else {**it, "status": {"used": used}}


def test_pods_above_a_quota():
    """2 of 4 GPUs are used, and 3 pods request 2 each."""
    found = explain("n/a", *PLAIN, quota(used={KEY: "2"}, **{KEY: "4"}), job("a", gpus=2, pods=3))
    assert found.cause.kind.value == "pods-refused"
    assert found.cause.about == "ResourceQuota n/rq"
    assert found.cause.message == (
        f"exceeded quota: rq, requested: {KEY}=2, used: {KEY}=2, limited: {KEY}=4"
    )
    assert [it.changes for it in found.remedies] == [
        (PodsChange("main", 3, 1),),
        (FieldChange("ResourceQuota", "n", "rq", ("spec", "hard", KEY), "4", "8"),),
    ]


def test_smaller_pods_are_a_remedy_too():
    found = explain("n/a", *PLAIN, quota(**{KEY: "4"}), job("a", gpus=3, pods=2))
    smaller = [it.changes for it in found.remedies if isinstance(it.changes[0], RequestChange)]
    assert smaller == [(RequestChange("main", GPU, 3, 2),)]


def test_the_pod_set_of_refused_pods():
    """The quota allows the driver, and one of two workers."""
    found = explain("n/a", *PLAIN, quota(**{KEY: "3"}), job_set("a", driver=(1, 1), worker=(2, 2)))
    assert found.cause.waiting == (WaitingPods("driver", 1, 1), WaitingPods("worker", 2, 2))
    found = submitted(*PLAIN, quota(**{KEY: "3"}), job_set("a", driver=(1, 1), worker=(2, 2)))
    assert found.cause.waiting == (WaitingPods("worker", 1, 2),)
    first, second, *_ = cause_words.reasons(found)
    assert first == "2 of its 3 pods are created."
    assert second.startswith(
        "ResourceQuota n/rq refuses the other one (pod set worker: 1 of 2): exceeded quota"
    )


def submitted(*things):
    """Why job a waits after all jobs were submitted."""
    made = scene(*things)
    state = instant(made, arrivals(made), None)
    it = Explainer(state.scene, state.arrivals)
    return it.explain(*it.named("n/a"))


def test_several_quotas_rise_together():
    found = explain("n/a", *PLAIN, quota(pods="2"), quota("b", **{KEY: "1"}), job("a", pods=4))
    raised = [(it.name, it.after) for it in found.remedies[-1].changes]
    assert raised == [("rq", "4"), ("b", "4")]


def test_a_remedy_needs_room_on_nodes():
    """The node holds 3 pods, so a higher quota does not help."""
    found = explain("n/a", node("x", 3), quota(pods="2"), job("a", pods=4, to=""))
    kept = [(it.changes[0], it.placed) for it in found.remedies if it.placed]
    assert kept == [(PodsChange("main", 4, 2), True)]


@pytest.mark.parametrize(
    "limits", [{KEY: "8"}, {"limits.nvidia.com/gpu": "0"}, {"pods": "4"}, {"count/jobs.batch": "0"}]
)
def test_a_quota_that_is_enough_refuses_no_pods(limits):
    found = explain("n/a", *PLAIN, quota(**limits), job("a", pods=4))
    assert not found.waits


@pytest.mark.parametrize("key", ["services", "requests.example.com/x"])
def test_a_key_that_the_pods_do_not_request_refuses_none(key):
    found = explain("n/a", *PLAIN, quota(used={key: "6"}, **{key: "5"}), job("a"))
    assert not found.waits


def test_a_quota_of_cpu_refuses_pods_without_a_request():
    found = explain("n/a", *PLAIN, quota(**{"requests.cpu": "8"}), job("a"))
    assert found.cause.message == "failed quota: rq: must specify requests.cpu"
    assert found.remedies == ()
    advice = (
        "Set requests.cpu in each container, or create a LimitRange with defaults in the namespace."
    )
    assert list(cause_words.reasons(found))[-1] == advice


def test_a_quota_counts_the_pods_of_its_scopes():
    scoped = quota(pods="0")
    for scope, waits in (("Terminating", False), ("NotTerminating", True)):
        scoped["spec"]["scopes"] = [scope]
        assert explain("n/a", *PLAIN, scoped, job("a")).waits is waits


@pytest.mark.parametrize(
    "fields, pods",
    [({}, 3), ({"completions": 9}, 3), ({"completions": 2}, 2), ({"completions": None}, 3)],
)
def test_the_pods_that_a_job_keeps(fields, pods):
    it = job("a", pods=3)
    it["spec"] |= fields
    (owner,) = scene(it).cluster.workloads
    assert wanted_pods(owner) == pods
