"""Sentences about causes."""

import pytest

from policygen.report import cause_words as words
from policygen.simulate.why.causes import (
    Cause,
    CauseKind,
    FlavorObstacle,
    NearestNode,
    NeverPlaced,
    ObstacleKind,
)
from policygen.simulate.why.explanation import Explanation
from policygen.simulate.why.history import Preempted
from tests.simulate.results import waiting
from tests.simulate.why.waiting import PLAIN, explain, job, node


@pytest.mark.parametrize(
    "never, text",
    [
        (
            NeverPlaced(1, 0, alone=False, nearest=NearestNode("x", "nvidia.com/gpu", 9, 8)),
            "no node that its pods can use has 9 GPUs (the largest has 8).",
        ),
        (NeverPlaced(5, 4, alone=True), "all nodes together have room for 4 of its 5 pods."),
        (NeverPlaced(1, 0, alone=False), "no node takes its pods, even without other pods."),
    ],
)
def test_what_never_starts_is_said_first(never, text):
    found = Explanation("n/a", "Job", "n", Cause(CauseKind.NO_FREE_QUOTA, never=never))
    assert list(words.reasons(found)) == [f"It never starts: {text}"]


def test_what_never_starts_names_its_flavor():
    never = NeverPlaced(1, 0, alone=False, nearest=NearestNode("x", "nvidia.com/gpu", 9, 8))
    short = FlavorObstacle(ObstacleKind.NO_FREE_QUOTA, "main", "small", "nvidia.com/gpu", 9)
    cause = Cause(CauseKind.NO_FREE_QUOTA, never=never, obstacles=(short,))
    first, *_ = words.reasons(Explanation("n/a", "Job", "n", cause))
    assert first == "It never starts: no node of flavor small has 9 GPUs (the largest has 8)."


def test_the_first_line_has_what_lasts():
    never = NeverPlaced(5, 4, alone=True)
    found = Explanation("n/a", "Job", "n", Cause(CauseKind.NO_FREE_QUOTA, never=never))
    assert words.headline(found) == "Job n/a waits: no node has room for all its pods"
    above = Explanation("n/a", "Job", "n", Cause(CauseKind.ABOVE_MAXIMUM, never=never))
    assert words.headline(above).endswith("it requests more than its queue can ever use")


def test_the_reasons_of_nodes():
    found = explain("n/a", node("x", 2), node("y", 4), job("a", gpus=6, to=""))
    assert list(words.reasons(found)) == [
        "It never starts: no node that its pods can use has 6 GPUs (the largest has 4).",
        "Its pod fits on no node.",
        "2 nodes: Insufficient nvidia.com/gpu.",
        "Node y comes closest: a pod requests 6 GPUs, and 4 are free.",
    ]


def test_every_cause_has_a_sentence():
    for kind in CauseKind:
        cause = Cause(kind, "ClusterQueue q", "q", names=("x",))
        text = list(words.reasons(Explanation("n/a", "Job", "n", cause)))
        assert text or not cause.obstacles, kind
        assert words.headline(Explanation("n/a", "Job", "n", cause)).endswith(words.title(cause))


def test_a_preemption_of_the_past():
    it = Preempted("n/b", "InClusterQueue", "m", "2026-11-20T08:00:00Z", "/root/q")
    assert words.past(it) == (
        "n/b from /root/q preempted it at 2026-11-20T08:00:00Z (withinClusterQueue: it has a higher "
        "priority in the same ClusterQueue)."
    )


@pytest.mark.parametrize(
    ("rule", "words_"),
    [
        ("PodPriority", "kube-scheduler: its pods have a higher priority"),
        ("reclaim", "Volcano's action reclaim: a job of another queue"),
    ],
)
def test_rules_of_other_schedulers(rule, words_):
    assert words.past(Preempted("n/b", rule, "", "2h")) == f"n/b preempted it at 2h ({words_})."


@pytest.mark.parametrize(
    ("cause", "text"),
    [
        (
            Cause(CauseKind.QUEUE_MISSING, "LocalQueue n/q", names=("r",)),
            "LocalQueue n/q does not exist. Namespace n has LocalQueue r.",
        ),
        (
            Cause(CauseKind.TOPOLOGY_MISSING, "ClusterQueue q", names=("t",)),
            "ClusterQueue q admits nothing: Topology t does not exist or has no levels.",
        ),
        (
            Cause(CauseKind.ADMISSIBLE),
            "Its quota is free when the simulation ends. Kueue tries it again within a second.",
        ),
        (
            Cause(CauseKind.NO_NODES, pods=1),
            "Kueue evicted it 2 times, because its pods were not ready in time. Its pod fits on no node.",
        ),
        (
            Cause(CauseKind.VOLCANO, message="queue resource quota insufficient: gpu"),
            "Volcano does not start it: queue resource quota insufficient: gpu",
        ),
        (
            Cause(CauseKind.NOT_MANAGED, message='PodGroup a does not exist; did you mean "b"?'),
            'Kueue creates no Workload for it: PodGroup a does not exist; did you mean "b"?',
        ),
        (
            Cause(CauseKind.UNKNOWN, message="a CronJob creates its Jobs later"),
            "policygen does not model what decides about it: a CronJob creates its Jobs later.",
        ),
        (
            Cause(CauseKind.GATED, names=("a", "b")),
            "Its pods have the scheduling gates a and b, which its controller must remove.",
        ),
    ],
)  # fmt: skip
def test_a_cause_in_a_line(cause, text):
    assert words.brief(waiting(cause=cause, evicted=2)) == text


def test_a_cause_in_a_line_after_an_admission_check_evicted_it():
    job = waiting(cause=Cause(CauseKind.NO_NODES, pods=1), evicted=1, evicted_for="AdmissionCheck")
    assert words.brief(job) == (
        "Kueue evicted it once, because an admission check requested a retry. Its pod fits on no node."
    )


def test_a_workload_that_can_run():
    found = explain("n/a", *PLAIN, job("a"))
    assert words.headline(found) == "Job n/a can run now"


def test_the_headline_names_the_volcano_queue_whose_limit_is_used() -> None:
    """It can be the queue of the pool, above that of the team."""
    cause = Cause(CauseKind.VOLCANO_LIMIT, queue="a100")
    assert words.title(cause) == "the limit of Queue a100 is used"
