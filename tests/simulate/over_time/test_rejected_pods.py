"""Pods that name their node: no scheduler places them, and the kubelet admits or rejects them."""

import pytest

from policygen.simulate.over_time.rejected_pods import gives_up_after
from policygen.simulate.result import JobState
from policygen.simulate.scene_jobs import arrivals
from policygen.simulate.why.causes import CauseKind
from policygen.simulate.why.explainer import Explainer
from tests.simulate.scenes import NODES, QUEUES, job, scene
from tests.simulate.test_assumptions import recorded

HOUR = 3600.0


def named(name, gpus, node="n0", *, more="", **fields):
    text = job(name, gpus, **fields).replace(
        "restartPolicy", f"nodeName: {node}\n      restartPolicy"
    )
    return text.replace("parallelism", f"{more}\n  parallelism") if more else text


def found(text, **more):
    return {it.name: it for it in recorded(scene(text), **more).jobs}


def test_a_named_node_is_used_whatever_the_scheduler_would_do():
    """The node is cordoned and has a taint; only NoExecute would keep the pod away."""
    closed = NODES.replace(
        "name: n0, labels: {gpu: a100}}",
        "name: n0, labels: {gpu: a100}}\nspec: {unschedulable: true, taints: [{key: a, effect: NoSchedule}]}",
    )
    one = found(QUEUES + closed + named("a", 8, queue=""))["nlp/a"]
    assert (one.started, one.nodes) == (0, {"n0": 1})
    gone = closed.replace("NoSchedule", "NoExecute")
    assert found(QUEUES + gone + named("a", 8, queue=""))["nlp/a"].state is JobState.NEVER


def test_a_rejected_job_runs_when_its_node_has_room_before_it_gives_up():
    short = 'policygen.dev/runs-for: "300"'
    both = found(
        QUEUES + NODES + named("a", 8, queue="", annotations=short) + named("b", 8, queue="")
    )
    assert both["nlp/b"].started == 300


def test_a_rejected_job_gives_up_and_frees_its_quota():
    """7 attempts fail: at 0, 10, 30, 70, 150, 310 and 630 seconds. The other job needs 8 of 12 GPUs."""
    text = QUEUES + NODES + named("a", 8, queue="") + named("b", 8)
    late = job("c", 8, annotations="policygen.dev/arrives-after: 1m")
    jobs = found(text + late)
    failed, other = jobs["nlp/b"], jobs["nlp/c"]
    assert (failed.state, failed.reason) == (JobState.NEVER, "BackoffLimitExceeded")
    assert failed.cause.kind is CauseKind.NODE_REJECTS
    assert other.started == 631
    assert other.nodes == {"n1": 1}


def test_a_node_that_does_not_exist():
    one = found(QUEUES + NODES + named("a", 8, "nx"), until=60)["nlp/a"]
    assert one.cause.message == "node nx does not exist"


@pytest.mark.parametrize(
    "retries, pods, seconds",
    [
        (6, 1, 630),
        (0, 1, 0),
        (6, 8, 0),
        (6, 4, 80),
        (2, 1, 30),
        (20, 1, 630 + 14 * 600),
        (20, 7, 600 + 600),
        (2**31 - 1, 1, 630 + (2**31 - 7) * 600),
    ],
)
def test_when_a_job_gives_up(retries, pods, seconds):
    assert gives_up_after(retries, pods) == seconds


def test_why_names_the_node_and_the_shortage():
    it = scene(QUEUES + NODES + named("a", 9, queue=""))
    (one,) = arrivals(it)
    cause = Explainer(it, [one]).explain(one).cause
    assert (cause.kind, cause.about) == (CauseKind.NODE_REJECTS, "Node n0")
    assert cause.message == "OutOfnvidia.com/gpu"
    assert (cause.nearest.asked, cause.nearest.free) == (9, 8)
