"""Why jobs wait when a simulation over time ends."""

import pytest

from policygen.simulate.scene_jobs import arrivals
from policygen.simulate.scene_schedulers import timeline
from policygen.simulate.why.causes import CauseKind, WaitingPods
from policygen.simulate.why.end_causes import EndCauses, PodCauses
from tests.simulate.why.waiting import PLAIN, flavor, job, job_set, local, node, queue, scene, thing

STRICT = (flavor(), queue("q", queueingStrategy="StrictFIFO"), local())


def ended(*things, until=60.0):
    """The jobs that wait, with their causes, by name."""
    made = scene(thing("Namespace", "n", {}, version="v1"), *things)
    run = timeline(made, arrivals(made, 3600.0), until=until)
    for _ in run.run():
        pass
    causes = EndCauses(made, run)
    return {it.arrival.name: causes.of(it) for it in run.jobs if not it.running}


@pytest.mark.parametrize(
    ("things", "kind"),
    [
        ((*PLAIN, job("a", to="z")), CauseKind.QUEUE_MISSING),
        ((job("a", to="z"),), CauseKind.QUEUE_MISSING),
        ((local(), job("a")), CauseKind.CLUSTER_QUEUE_MISSING),
        ((*PLAIN, job("a", pods=9)), CauseKind.ABOVE_MAXIMUM),
        ((*PLAIN, job("b", pods=8), job("a")), CauseKind.NO_FREE_QUOTA),
        ((*STRICT, job("b", pods=9), job("a")), CauseKind.QUEUE_HEAD),
        ((*PLAIN, node("x", 2), job("a", gpus=3)), CauseKind.NO_NODES),
        ((node("x", 2), job("a", gpus=3, to="")), CauseKind.NO_NODES),
        ((*PLAIN, job("a", schedulerName="vulcano")), CauseKind.SCHEDULER_UNKNOWN),
        ((node("x", 2), job("a", to="", schedulerName="vulcano")), CauseKind.SCHEDULER_UNKNOWN),
        (
            (node("x", 2), job("a", gpus=3, to="", schedulerName="volcano")),
            CauseKind.NO_NODES,
        ),
    ],
)  # fmt: skip
def test_the_cause_is_that_of_the_schedulers_at_the_end(things, kind):
    assert ended(*things)["n/a"].kind is kind


def test_names_are_those_of_users():
    found = ended(*PLAIN, job("b", pods=8), job("a"))["n/a"]
    assert found.obstacles[0].holders[0].workloads == ("n/b",)
    assert ended(*STRICT, job("b", pods=9), job("a"))["n/a"].names == ("n/b",)


def test_equal_jobs_behind_the_head_have_equal_causes_and_the_head_has_its_own():
    found = ended(*STRICT, *(job(it, pods=9) for it in "bac"))
    assert [it.kind for it in found.values()] == [
        CauseKind.ABOVE_MAXIMUM, CauseKind.QUEUE_HEAD, CauseKind.QUEUE_HEAD,
    ]  # fmt: skip


def test_the_pods_without_a_node_are_counted_for_each_job():
    found = ended(node("x", 4), *(job(it, gpus=3, pods=n, to="") for it, n in (("a", 2), ("b", 3))))
    assert [(it.placed, it.pods) for it in found.values()] == [(1, 2), (0, 3)]
    assert found["n/a"].nearest.free == 1


@pytest.mark.parametrize("to", ["q", ""])
def test_the_pod_sets_of_pods_that_wait(to):
    found = ended(*PLAIN, node("x", 6), job_set("a", to, worker=(3, 2), driver=(1, 2)))["n/a"]
    assert found.waiting == (WaitingPods("driver", 1, 1),)
    rq = thing("ResourceQuota", "rq", {"hard": {"requests.nvidia.com/gpu": "3"}}, "n", "v1")
    found = ended(*PLAIN, rq, job_set("a", to, driver=(1, 1), worker=(2, 2)))["n/a"]
    assert found.waiting == (WaitingPods("worker", 1, 2),)


def test_without_nodes_no_cause_of_nodes_is_known():
    made = scene(*PLAIN, job("a"))
    run = timeline(made, arrivals(made, 3600.0))
    assert PodCauses(run).of(run.jobs[0]) is None
