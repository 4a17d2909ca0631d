"""The smallest changes that admit a workload, and what they cost."""

from policygen.simulate.why.changes import FieldChange, PodsChange, PriorityChange, QueueChange
from policygen.simulate.why.remedy import Cost
from tests.simulate.why.waiting import (
    PLAIN,
    SHARED,
    explain,
    flavor,
    job,
    local,
    priority,
    queue,
)


def by_type(found, kind):
    return [it for it in found.remedies if isinstance(it.changes[0], kind)]


def test_as_many_pods_as_fit():
    found = explain("n/a", *PLAIN, job("b", pods=3), job("a", pods=7))
    (fewer,) = by_type(found, PodsChange)
    assert fewer.changes == (PodsChange("main", 7, 5),)
    assert fewer.cost == Cost()


def test_the_least_additional_quota():
    found = explain("n/a", *PLAIN, job("b", pods=3), job("a", pods=7))
    (more,) = by_type(found, FieldChange)
    assert (more.changes[0].before, more.changes[0].after) == ("8", "10")


def test_another_queue_of_the_namespace():
    found = explain("n/a", *PLAIN, queue("w", 20), local("w", "w"), job("a", pods=12))
    (other,) = by_type(found, QueueChange)
    assert other.changes == (QueueChange("q", "w"),)


def test_a_priority_that_preempts_names_its_victims():
    policy = {"withinClusterQueue": "LowerPriority"}
    queues = flavor(), queue("q", preemption=policy), local(), priority("mid", 5)
    jobs = job("b", pods=8, rank="mid"), job("a", pods=2)
    found = explain("n/a", *queues, priority("high", 9), *jobs)
    (rank,) = by_type(found, PriorityChange)
    assert rank.changes == (PriorityChange(0, 9, "high"),)
    assert rank.cost == Cost(preempted=("n/b",))


def test_a_policy_that_takes_quota_back_names_who_must_leave():
    found = explain("n/a", *SHARED, job("b", pods=14, to="r"), job("a", pods=3, after="1m"))
    changed = by_type(found, FieldChange)
    reclaim = [it for it in changed if it.changes[0].path[-1] == "reclaimWithinCohort"]
    assert reclaim[0].changes[0].after == "Any"
    assert reclaim[0].cost.preempted == ("n/b",)


def test_what_costs_others_nothing_comes_first():
    found = explain("n/a", *SHARED, job("b", pods=14, to="r"), job("a", pods=3, after="1m"))
    costs = [len(it.cost.preempted) for it in found.remedies]
    assert costs == sorted(costs)
