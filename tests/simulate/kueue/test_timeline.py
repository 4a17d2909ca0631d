"""Kueue's decisions over time, with hand-computed times."""

from policygen.simulate.kueue.queue import ANY, NEWER_EQUAL, FlavorChoice, Group
from policygen.simulate.kueue.scheduler import Scheduler
from policygen.simulate.kueue.timeline import Job, Timeline
from tests.simulate.kueue.trees import cohort, queue, state, workload


def timeline(*jobs, **settings):
    """Queues a and b of 4 GPUs each, in one cohort."""
    a, b = queue("a", 4), queue("b", 4)
    it = state(cohort("root", a, b), a, b, **settings)
    for each in it.queues.values():
        each.namespaces = frozenset(["n"])
        each.groups = (Group(frozenset(["gpu"]), (FlavorChoice("f", {"gpu": 0}),)),)
        each.group_of = {"gpu": each.groups[0]}
    found = Timeline(Scheduler(it), jobs)
    for _ in found.run():
        pass
    return {job.workload.uid: job for job in found.jobs.values()}


def times(job):
    return job.started, job.ended, job.waited, job.preempted


def test_a_job_waits_until_another_ends():
    """Both need all 8 GPUs. Kueue retries the second 1 second after the end of the first."""
    found = timeline(
        Job(workload("first", amount=8, created=0), 10.0),
        Job(workload("second", amount=8, created=2), 5.0),
    )
    assert times(found["first"]) == (0, 10, 0, 0)
    assert times(found["second"]) == (11, 16, 9, 0)


def test_a_job_that_never_fits_is_not_started():
    found = timeline(Job(workload("large", amount=9), 1.0))
    assert times(found["large"])[:2] == (None, None)


def test_a_guarantee_is_reclaimed_and_the_victim_begins_again():
    """At 4, b's job takes its 4 GPUs back. a's job of 6 runs again from 10 on, 1 second after its end."""
    found = timeline(
        Job(workload("borrows", "a", 6), 10.0),
        Job(workload("reclaims", "b", 4, created=4), 5.0),
        reclaim_within_cohort=ANY,
    )
    assert times(found["reclaims"]) == (4, 9, 0, 0)
    assert times(found["borrows"]) == (0, 20, 6, 1)
    assert found["borrows"].lost == 4


def test_an_older_job_of_equal_priority_preempts_a_newer_one_only_if_it_may():
    jobs = [("newer", 5, 3.0), ("older", 1, 3.0)]
    found = timeline(
        *(Job(workload(name, amount=8, created=at), runs) for name, at, runs in jobs),
        within_cluster_queue=NEWER_EQUAL,
    )
    assert times(found["older"]) == (1, 4, 0, 0)
    assert times(found["newer"]) == (5, 8, 0, 0)
