"""Sentences about causes and remedies."""

import pytest
from msgspec.structs import replace

from policygen.core.finding import At
from policygen.kubernetes.core import TolerationView
from policygen.report import why_words as words
from policygen.simulate.why.causes import Cause, CauseKind, NearestNode, NeverPlaced
from policygen.simulate.why.changes import (
    AffinityRemoved,
    ConstraintRemoved,
    FieldChange,
    ObjectAdded,
    PodsChange,
    PriorityChange,
    QueueChange,
    RequestChange,
    SelectorChange,
    SpecChange,
    SpecEdit,
    TolerationAdded,
)
from policygen.simulate.why.explanation import Explanation
from policygen.simulate.why.history import Preempted
from policygen.simulate.why.remedy import Cost
from policygen.simulate.why.start import Start
from tests.simulate.results import job as finished
from tests.simulate.results import waiting
from tests.simulate.why.waiting import PLAIN, SHARED, explain, job, local, node

QUOTA = ("spec", "resourceGroups", 0, "flavors", 0, "resources", 0)
OF = "nvidia.com/gpu in flavor a100"
LOCAL_QUEUE = local("q", "r")


@pytest.mark.parametrize(
    "change, text",
    [
        (
            FieldChange("ClusterQueue", "", "q", (*QUOTA, "nominalQuota"), "8", "10", OF),
            f"Raise nominalQuota of {OF} in ClusterQueue q from 8 to 10",
        ),
        (
            FieldChange("ClusterQueue", "", "q", (*QUOTA, "nominalQuota"), 8, "6", OF),
            f"Lower nominalQuota of {OF} in ClusterQueue q from 8 to 6",
        ),
        (
            FieldChange("LocalQueue", "n", "q", ("spec", "stopPolicy"), "Hold", "None"),
            "Set stopPolicy of LocalQueue n/q to None instead of Hold",
        ),
        (
            FieldChange("Namespace", "", "n", ("metadata", "labels", "team"), None, "nlp"),
            "Add the label team: nlp to Namespace n",
        ),
        (
            FieldChange("Node", "", "x", ("spec", "unschedulable"), before=True, after=None),
            "Uncordon Node x",
        ),
        (ObjectAdded(LOCAL_QUEUE), "Create LocalQueue n/q for ClusterQueue r"),
        (PodsChange("main", 8, 1), "Run 1 pod instead of 8"),
        (PodsChange("worker", 8, 5), "Run 5 pods instead of 8 (pod set worker)"),
        (
            RequestChange("main", "nvidia.com/gpu", 8, 2),
            "Request 2 GPUs in each pod instead of 8",
        ),
        (
            RequestChange("main", "memory", 64 * 2**30, 32 * 2**30),
            "Request 32 GiB of memory in each pod instead of 64 GiB",
        ),
        (RequestChange("main", "amd.com/gpu", 8, 0), "Remove the request for amd.com/gpu"),
        (QueueChange("z", "q"), "Use LocalQueue q instead of z"),
        (PriorityChange(0, 9, "high"), "Use the priority class high (9)"),
        (PriorityChange(0, 9, ""), "Create a WorkloadPriorityClass with the value 9, and use it"),
        (
            TolerationAdded("main", TolerationView("gpu", "Equal", "yes", "NoSchedule")),
            "Add a toleration for the taint gpu=yes:NoSchedule",
        ),
        (
            SelectorChange("main", "gpu", "a", "b"),
            "Select nodes with gpu: b instead of a",
        ),
        (SelectorChange("main", "gpu", "a", None), "Remove gpu: a from nodeSelector"),
        (AffinityRemoved("main"), "Remove the required node affinity"),
        (
            ConstraintRemoved("main", "podAntiAffinity"),
            "Remove the required terms of podAntiAffinity",
        ),
    ],
)
def test_a_change_is_an_imperative(change, text):
    assert words.change(change) == text


def test_an_edit_of_a_spec_names_its_place():
    at = At(0, ("spec",))
    raised = SpecEdit("Team", "nlp", "a100", "guarantee", "", "4", "6", at, "teams.yaml:12")
    lowered = SpecEdit("Team", "cv", "a100", "guarantee", "1g.10gb", "3", "1", at)
    assert words.remedy([SpecChange((raised, lowered), ())]) == (
        "Raise guarantee of team nlp in pool a100 from 4 to 6 (teams.yaml:12); lower guarantee 1g.10gb "
        "of team cv in pool a100 from 3 to 1."
    )
    pool = SpecEdit("ResourcePool", "a100", "", "a.b", "", "false", "true", at, "pools.yaml:3")
    assert words.change(SpecChange((pool,), ())) == "Set a.b of pool a100 to true (pools.yaml:3)"


@pytest.mark.parametrize(
    "never, text",
    [
        (
            NeverPlaced(1, 0, alone=False, nearest=NearestNode("x", "nvidia.com/gpu", 9, 8)),
            "no node has 9 GPUs (the largest has 8).",
        ),
        (NeverPlaced(5, 4, alone=True), "all nodes together have room for 4 of its 5 pods."),
        (NeverPlaced(1, 0, alone=False), "no node takes its pods, even without other pods."),
    ],
)
def test_what_never_starts_is_said_first(never, text):
    found = Explanation("n/a", "Job", "n", Cause(CauseKind.NO_FREE_QUOTA, never=never))
    assert list(words.reasons(found)) == [f"It never starts: {text}"]


@pytest.mark.parametrize(
    "start, text",
    [
        (
            Start(7500.0, ("n/b",)),
            "It starts in 2h 5m, when n/b has ended, if no other job arrives.",
        ),
        (
            Start(60.0, ("n/b", "n/c"), preempts=("n/d",)),
            (
                "It starts in 1m, when n/b and n/c have ended, if no other job arrives. Then n/d must "
                "leave."
            ),
        ),
        (Start(None), "It still waits when all other jobs have ended."),
    ],
)
def test_when_it_starts(start, text):
    assert words.start(start) == text


def test_when_it_starts_is_not_known():
    assert "does not know how long 2 running workloads will run" in words.start(
        Start(None, unknown=2)
    )


def test_several_changes_are_one_sentence():
    two = [QueueChange("z", "q"), PodsChange("main", 3, 2)]
    assert words.remedy(two) == "Use LocalQueue q instead of z; run 2 pods instead of 3."


def test_costs_name_who_pays():
    assert words.costs(Cost()) == "No other workload waits longer."
    cost = Cost(("n/a",), ("n/b", "n/c"), ("n/d",))
    text = "n/a must leave. n/b and n/c wait longer. n/d is admitted too."
    assert words.costs(cost) == text
    assert words.names(tuple("abcde")) == "a, b, c and 2 others"


def test_the_numbers_of_a_quota():
    found = explain("n/a", *SHARED, job("b", pods=14, to="r"), job("a", pods=3, after="1m"))
    assert list(words.reasons(found)) == [
        "It requests 3 GPUs of flavor f, and 2 are free for ClusterQueue q.",
        "The quota of ClusterQueue q is 8, and it uses 0.",
        "ClusterQueue r uses 14, and borrows 6 of them (n/b).",
        (
            "Its queue has the quota, but may not take it back: reclaimWithinCohort is Never, "
            "withinClusterQueue is Never."
        ),
    ]
    assert words.headline(found) == (
        "Job n/a waits: its queue may not preempt the workloads that use the quota"
    )
    other = replace(found, name="n/a (Job)")
    assert words.headline(other) == words.headline(found)


def test_the_reasons_of_nodes():
    found = explain("n/a", node("x", 2), node("y", 4), job("a", gpus=6, to=""))
    assert list(words.reasons(found)) == [
        "It never starts: no node has 6 GPUs (the largest has 4).",
        "Its pod fits on no node.",
        "2 nodes: Insufficient nvidia.com/gpu.",
        "Node y comes closest: a pod requests 6 GPUs, and 4 are free.",
    ]


def test_every_cause_has_a_sentence():
    for kind in CauseKind:
        cause = Cause(kind, "ClusterQueue q", "q", names=("x",))
        text = list(words.reasons(Explanation("n/a", "Job", "n", cause)))
        assert text or not cause.obstacles, kind
        assert words.headline(Explanation("n/a", "Job", "n", cause)).endswith(words.TITLES[kind])


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
    ],
)  # fmt: skip
def test_a_cause_in_a_line(cause, text):
    assert words.brief(waiting(cause=cause, evicted=2)) == text


def test_a_quota_in_a_line_has_what_is_requested_and_free():
    cause = explain("n/a", *PLAIN, job("b", pods=3), job("a", pods=7)).cause
    text = "It requests 7 GPUs of flavor f, and 5 are free for ClusterQueue q."
    assert words.brief(waiting(cause=cause)) == text
    assert not words.brief(finished())


def test_a_workload_that_can_run():
    found = explain("n/a", *PLAIN, job("a"))
    assert words.headline(found) == "Job n/a can run now"
