"""Sentences about changes and their costs."""

import pytest

from policygen.core.finding import At
from policygen.kubernetes.core import TolerationView
from policygen.report import remedy_words as words
from policygen.report.amount_words import names
from policygen.simulate.why.changes import (
    AffinityRemoved,
    ConstraintRemoved,
    FewestPodsChange,
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
from policygen.simulate.why.remedy import Cost
from policygen.simulate.why.start import Start
from tests.simulate.why.waiting import local

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
            FieldChange("Queue", "", "q", ("status", "state"), "Closed", "Open"),
            "Open Queue q with `vcctl queue operate -n q -a open`",
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
        (
            FewestPodsChange("main", 8, 5, 8),
            'Set kueue.x-k8s.io/job-min-parallelism: "5", so that it can run with 5 of its 8 pods',
        ),
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
        (
            PriorityChange(0, 9, "high", of_pods=True),
            "Set priorityClassName of its pods to high (9)",
        ),
        (PriorityChange(0, 9, ""), "Create a WorkloadPriorityClass with the value 9, and use it"),
        (
            PriorityChange(0, 9, "", of_spec=True),
            "Add a priority with the value 9 to the Platform, and use it",
        ),
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


def test_several_changes_are_one_sentence():
    two = [QueueChange("z", "q"), PodsChange("main", 3, 2)]
    assert words.remedy(two) == "Use LocalQueue q instead of z; run 2 pods instead of 3."


def test_costs_name_who_pays():
    assert words.costs(Cost()) == "No other workload must leave, and no other start is delayed now."
    cost = Cost(("n/a",), ("n/b", "n/c"), ("n/d",))
    text = "n/a must leave. n/b and n/c wait longer. n/d is admitted too."
    assert words.costs(cost) == text
    assert names(tuple("abcde")) == "a, b, c and 2 others"


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
        (Start(None), "It still waits when no other job runs any more."),
        (
            Start(None, left=("n/b",)),
            (
                "It does not start in a simulation until nothing changes any more: n/b still holds "
                "quota or nodes then."
            ),
        ),
    ],
)
def test_when_it_starts(start, text):
    assert words.start(start) == text


def test_when_it_starts_is_not_known():
    assert "does not know how long 2 running workloads will run" in words.start(
        Start(None, unknown=2)
    )
