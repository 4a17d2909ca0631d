"""The smallest changes that admit a workload, and what they cost."""

import json
from collections import Counter
from random import Random

from policygen.simulate.scene_jobs import arrivals
from policygen.simulate.why.changes import (
    FewestPodsChange,
    FieldChange,
    ObjectAdded,
    PodsChange,
    PriorityChange,
    QueueChange,
    RequestChange,
    with_value,
)
from policygen.simulate.why.explainer import Explainer
from policygen.simulate.why.remedy import Cost
from policygen.simulate.why.scene_situation import situation
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
)


def by_type(found, kind):
    return [it for it in found.remedies if isinstance(it.changes[0], kind)]


def test_as_many_pods_as_fit():
    found = explain("n/a", *PLAIN, job("b", pods=3), job("a", pods=7))
    (fewer,) = by_type(found, FewestPodsChange)
    assert fewer.changes == (FewestPodsChange("main", 7, 5, 7),)
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


def manifests_after(things, remedy):
    """The manifests with the changes of a remedy."""
    found = json.loads(json.dumps(things))
    for it in remedy.changes:
        if isinstance(it, ObjectAdded):
            found.append(it.data)
        for i, one in enumerate(found):
            name = one["kind"], one["metadata"]["name"]
            if isinstance(it, FieldChange) and name == (it.kind, it.name):
                found[i] = with_value(one, it.path, it.after)
            elif name == ("Job", "a"):
                change_job(one, it)
    return found


def change_job(one, it):
    (container,) = one["spec"]["template"]["spec"]["containers"]
    labels = one["metadata"]["labels"]
    match it:
        case FewestPodsChange(after=after):
            one["metadata"]["annotations"] = {"kueue.x-k8s.io/job-min-parallelism": str(after)}
        case PodsChange(after=after):
            one["spec"] |= {"parallelism": after, "completions": after}
        case RequestChange(resource=resource, after=after):
            container["resources"] = {"requests": {resource: after}, "limits": {resource: after}}
        case QueueChange(after=after):
            labels["kueue.x-k8s.io/queue-name"] = after
        case PriorityChange(class_name=name):
            labels["kueue.x-k8s.io/priority-class"] = name


def starts(things, held):
    """Whether job a starts, where these workloads hold quota already."""
    made = scene(*things)
    jobs = arrivals(made)
    for it in jobs:
        if it.name != "n/a" and it.workload.name in held:
            it.workload.admission = held[it.workload.name].admission
    it = Explainer(made, jobs)
    (one,) = it.named("n/a")
    return not it.explain(one, search=False).waits


def drawn(random):
    """Two queues of a cohort with priorities, nodes or not, and jobs that fill them."""
    policies = [
        {"withinClusterQueue": random.choice(["Never", "LowerPriority"])},
        {"reclaimWithinCohort": random.choice(["Never", "Any"])},
    ]
    queues = [
        queue(name, random.randint(4, 10), "c", preemption=random.choice(policies))
        for name in ("q", "r")
    ]
    nodes = [node(f"x{i}", random.choice([4, 8])) for i in range(random.choice([0, 3, 4]))]
    jobs = [
        job(f"b{i}", random.randint(1, 4), random.randint(1, 3), random.choice("qr"),
            rank=random.choice(["low", "high"]), after=f"{i + 1}m")
        for i in range(random.randint(3, 9))
    ]  # fmt: skip
    target = job("a", random.randint(1, 4), random.randint(2, 5), rank="low", after="1h")
    ranks = priority("low", 1), priority("high", 9)
    return [flavor(), *queues, local(), local("r", "r"), *ranks, *nodes, *jobs, target]


def test_each_remedy_admits_the_workload_when_it_is_applied():
    random = Random(20261123)
    kinds = Counter()
    for _ in range(12):
        things = drawn(random)
        found = explain("n/a", *things)
        before = situation(made := scene(*things), arrivals(made))
        going = before.going_on(before.settle(keep=True))
        held = {it.name: it for them in going.held.values() for it in them}
        for remedy in found.remedies:
            if not remedy.either and remedy.placed is not False:
                assert starts(manifests_after(things, remedy), held), (things, remedy)
                kinds.update(type(it).__name__ for it in remedy.changes)
    assert kinds.keys() >= {"FieldChange", "FewestPodsChange", "RequestChange"}


def first_changes(found, *kinds):
    return [it.changes for it in found.remedies if isinstance(it.changes[0], kinds)]


def test_an_elastic_job_runs_fewer_pods_because_kueue_admits_only_all():
    elastic = job("a", pods=7)
    elastic["metadata"]["annotations"] = {"kueue.x-k8s.io/elastic-job": "true"}
    found = explain("n/a", *PLAIN, job("b", pods=3), elastic)
    assert first_changes(found, PodsChange, FewestPodsChange) == [(PodsChange("main", 7, 5),)]


def test_a_job_with_a_minimum_of_pods_accepts_fewer():
    least = job("a", pods=7)
    least["metadata"]["annotations"] = {"kueue.x-k8s.io/job-min-parallelism": "6"}
    found = explain("n/a", *PLAIN, job("b", pods=3), least)
    changes = first_changes(found, PodsChange, FewestPodsChange)
    assert changes == [(FewestPodsChange("main", 6, 5, 7),)]


def test_pods_of_a_partial_admission_have_room_on_nodes():
    """Quota and nodes have room for 5 of 7 pods, so it runs."""
    least = job("a", pods=7)
    least["metadata"]["annotations"] = {"kueue.x-k8s.io/job-min-parallelism": "2"}
    found = explain("n/a", *PLAIN, node("x", 8), job("b", pods=3), least)
    assert not found.waits
