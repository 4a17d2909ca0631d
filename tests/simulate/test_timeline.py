"""What schedulers decide over time, with hand-computed times."""

from fractions import Fraction

from policygen.kubernetes.node_groups import Node
from policygen.kubernetes.workloads import PodSpec
from policygen.simulate.arrival import Arrival, PodBatch
from policygen.simulate.kueue.pods_ready import PodsReadyRule
from policygen.simulate.kueue.queue import (
    ANY,
    LOWER_PRIORITY,
    NEWER_EQUAL,
    FlavorChoice,
    Group,
)
from policygen.simulate.kueue.scheduler import Scheduler
from policygen.simulate.kueue.state import FINAL_SHARE, INITIAL_SHARE
from policygen.simulate.placement.scheduler import KubeScheduler
from policygen.simulate.placement.shape import simple_shape
from policygen.simulate.timeline import Timeline
from tests.simulate.kueue.trees import cohort, queue, state, workload


def job(workload, duration):
    return Arrival(
        workload.name,
        "Job",
        "n",
        workload.created,
        duration,
        workload,
        (PodBatch("main", 1, PodSpec()),),
    )


def direct(name, at, duration, pods=1, priority=0, **more):
    """A job that Kueue does not manage."""
    batch = PodBatch("main", pods, PodSpec())
    return Arrival(f"n/{name}", "Job", "n", at, duration, None, (batch,), priority, **more)


def of_gpus(*amounts):
    """The shapes of pods with these numbers of GPUs, by name of the job."""
    found = {name: simple_shape({"gpu": amount}) for name, amount in amounts}
    return lambda arrival, *_: found[arrival.name.partition("/")[2]]


def run(timeline):
    for _ in timeline.run():
        pass
    return {it.arrival.name.partition("/")[2]: it for it in timeline.jobs}


def kube(nodes):
    allocatable = {"gpu": Fraction(8), "pods": Fraction(110)}
    return KubeScheduler([Node(f"n{i}", {}, allocatable=allocatable) for i in range(nodes)])


def timeline(*jobs, **settings):
    """Queues a and b of 4 GPUs each, in one cohort."""
    a, b = queue("a", 4), queue("b", 4)
    it = state(cohort("root", a, b), a, b, **settings)
    for each in it.queues.values():
        each.namespaces = frozenset(["n"])
        each.groups = (Group(frozenset(["gpu"]), (FlavorChoice("f", {"gpu": 0}),)),)
        each.group_of = {"gpu": each.groups[0]}
    return run(Timeline(jobs, Scheduler(it)))


def times(job):
    return job.started, job.ended, job.waited, job.preempted


def test_a_job_waits_until_another_ends():
    """Both need all 8 GPUs. Kueue retries the second 1 second after the end of the first."""
    found = timeline(
        job(workload("first", amount=8, created=0), 10.0),
        job(workload("second", amount=8, created=2), 5.0),
    )
    assert times(found["first"]) == (0, 10, 0, 0)
    assert times(found["second"]) == (11, 16, 9, 0)


def test_a_job_that_never_fits_is_not_started():
    found = timeline(job(workload("large", amount=9), 1.0))
    assert times(found["large"])[:2] == (None, None)


def test_jobs_that_never_fit_do_not_keep_later_ones_from_being_tried():
    """Each of the first three is tried and parked in a cycle of its own."""
    large = [job(workload(f"large-{i}", amount=9 + i), 1.0) for i in range(3)]
    found = timeline(*large, job(workload("small", amount=1, created=1), 1.0))
    assert times(found["small"])[:2] == (1, 2)


def test_a_guarantee_is_reclaimed_and_the_victim_begins_again():
    """At 4, b's job takes its 4 GPUs back. a's job of 6 runs again from 10 on, 1 second after its end."""
    found = timeline(
        job(workload("borrows", "a", 6), 10.0),
        job(workload("reclaims", "b", 4, created=4), 5.0),
        reclaim_within_cohort=ANY,
    )
    assert times(found["reclaims"]) == (4, 9, 0, 0)
    assert times(found["borrows"]) == (0, 20, 6, 1)
    assert found["borrows"].lost == 4


def test_an_older_job_of_equal_priority_preempts_a_newer_one_only_if_it_may():
    jobs = [("newer", 5, 3.0), ("older", 1, 3.0)]
    found = timeline(
        *(job(workload(name, amount=8, created=at), runs) for name, at, runs in jobs),
        within_cluster_queue=NEWER_EQUAL,
    )
    assert times(found["older"]) == (1, 4, 0, 0)
    assert times(found["newer"]) == (5, 8, 0, 0)


def test_a_victim_holds_its_quota_until_all_others_were_tried():
    """The small job, the last one of its queue, was tried before the victim of 4 GPUs leaves 2 for the second job."""
    a, b = queue("a", 4), queue("b", 0)
    it = state(cohort("root", a, b), a, b, within_cluster_queue=LOWER_PRIORITY)
    jobs = [
        ("low", "a", 4, 0), ("big", "b", 3, 1), ("small", "b", 2, 0), ("first", "a", 2, 2), ("second", "a", 2, 1),
    ]  # fmt: skip
    arrivals = [
        job(workload(name, of, gpus, priority, created=0 if name == "low" else 1), None)
        for name, of, gpus, priority in jobs
    ]
    found = run(Timeline(arrivals, Scheduler(it)))
    running = {name: it.started for name, it in found.items() if it.running}
    assert running == {"first": 1, "second": 1}


def livelock(lasts):
    """Only one of these jobs has room, and the queue that borrows more has the higher share.

    j1 borrows 2 and evicts j2, which borrows 3. j3 borrows 1 and evicts j1. j2 has the highest priority of its
    queue and evicts j3.
    """
    nodes = queue("a", 4), queue("b", 3)
    own = {"reclaim_within_cohort": ANY, "within_cluster_queue": LOWER_PRIORITY}
    it = state(cohort("root", *nodes), *nodes, strategies=(FINAL_SHARE, INITIAL_SHARE), **own)
    it.pods_ready = PodsReadyRule(timeout=300.0)
    jobs = [("b", 6, 1), ("a", 6, 1), ("b", 6, 2), ("b", 4, 0)]
    made = Timeline(
        [job(workload(f"j{i}", *each, created=i), lasts) for i, each in enumerate(jobs)],
        Scheduler(it),
    )
    return made, run(made)


def test_jobs_that_preempt_each_other_once_a_second_are_a_livelock():
    """Nothing else happens, so the simulation ends."""
    made, _ = livelock(None)
    assert list(made.livelocks) == [("n/j1", "n/j2", "n/j3")]


def test_a_livelock_goes_on_only_when_something_happens():
    """The ends and timeouts of pods that were evicted before change nothing."""
    made, found = livelock(1000.0)
    assert all(it.ended for it in found.values())
    assert sum(it.preempted for it in found.values()) < 30
    assert made.cycles < 100


def test_a_workload_without_a_queue_waits_for_ever():
    found = timeline(job(workload("lost", "c"), 1.0))["lost"]
    assert found.started is None
    assert found.message == "LocalQueue c doesn't exist in namespace n; known: a, b"


def test_pods_without_a_node_wait_until_others_end():
    """The node has 8 GPUs: the second job of 2 pods binds one, and starts when the first has ended."""
    shapes = of_gpus(("first", 5), ("second", 3))
    found = run(
        Timeline(
            [direct("first", 0, 10), direct("second", 1, 5, pods=2)], kube=kube(1), shapes=shapes
        )
    )
    assert times(found["first"]) == (0, 10, 0, 0)
    assert times(found["second"]) == (10, 15, 9, 0)


def test_a_pod_of_a_higher_priority_evicts_one_of_a_lower():
    """At 3, the urgent job takes the node. The other begins again at 5, and ends at 15."""
    shapes = of_gpus(("low", 8), ("urgent", 8))
    jobs = [direct("low", 0, 10), direct("urgent", 3, 2, priority=10)]
    found = run(Timeline(jobs, kube=kube(1), shapes=shapes))
    assert times(found["urgent"]) == (3, 5, 0, 0)
    assert times(found["low"]) == (0, 15, 2, 1)
    assert found["low"].lost == 3
    assert [(it.by, it.rule) for it in found["low"].preemptions] == [("n/urgent", "PodPriority")]


def test_a_job_that_runs_from_the_start_leaves_its_node_when_it_ends():
    shapes = of_gpus(("old", 8), ("new", 8))
    jobs = [direct("old", -60, 10, nodes=("n0",)), direct("new", 0, 5)]
    found = run(Timeline(jobs, kube=kube(1), shapes=shapes))
    assert times(found["old"]) == (-60, 10, 0, 0)
    assert times(found["new"]) == (10, 15, 10, 0)


def test_a_simulation_ends_at_the_given_time():
    jobs = [direct("long", 0, 100), direct("late", 60, 1)]
    timeline = Timeline(jobs, until=50)
    found = run(timeline)
    assert times(found["long"])[:2] == (0, None)
    assert found["long"].running
    assert timeline.ends == 50
    assert not found["late"].has_arrived


def test_a_waiting_job_waits_until_the_end():
    shapes = of_gpus(("large", 9))
    timeline = Timeline([direct("large", 10, 5)], kube=kube(1), shapes=shapes, until=50)
    assert timeline.waited(run(timeline)["large"]) == 40
