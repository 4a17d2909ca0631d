"""Sentences about quotas."""

from msgspec.structs import replace

from policygen.report import cause_words as words
from tests.simulate.results import job as finished
from tests.simulate.results import waiting
from tests.simulate.why.waiting import PLAIN, SHARED, explain, job


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


def test_a_quota_in_a_line_has_what_is_requested_and_free():
    cause = explain("n/a", *PLAIN, job("b", pods=3), job("a", pods=7)).cause
    text = "It requests 7 GPUs of flavor f, and 5 are free for ClusterQueue q."
    assert words.brief(waiting(cause=cause)) == text
    assert not words.brief(finished())


def test_the_fewest_pods_that_a_job_accepts():
    least = job("a", pods=7)
    least["metadata"]["annotations"] = {"kueue.x-k8s.io/job-min-parallelism": "6"}
    found = explain("n/a", *PLAIN, job("b", pods=3), least)
    assert next(words.reasons(found)) == (
        "With 6 of its 7 pods, the fewest that it accepts, it requests 6 GPUs of flavor f, and 5 are free "
        "for ClusterQueue q."
    )
