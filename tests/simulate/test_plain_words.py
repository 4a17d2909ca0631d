"""Why jobs wait, in plain words."""

import pytest

from policygen.simulate.plain_words import plain
from tests.simulate.results import job, waiting

PREFIX = "couldn't assign flavors to pod set main: "


@pytest.mark.parametrize(
    "message, words",
    [
        (
            PREFIX + "insufficient unused quota for nvidia.com/gpu in flavor a100, 4 more needed",
            "needs 4 nvidia.com/gpu more of a100",
        ),
        (
            PREFIX
            + "insufficient unused quota for cpu in flavor a100, 1 more needed, insufficient "
            "unused quota for nvidia.com/gpu in flavor a100, 4 more needed, insufficient unused quota "
            "for nvidia.com/gpu in flavor l4, 2 more needed",
            "needs 4 nvidia.com/gpu more of a100; or needs 2 nvidia.com/gpu more of l4",
        ),
        (
            PREFIX + "insufficient quota for nvidia.com/gpu in flavor a100, previously considered "
            "podsets requests (0) + current podset request (32) > maximum capacity (24)",
            "requests 32 nvidia.com/gpu, but its queue can never use more than 24 of a100",
        ),
        (
            PREFIX + "insufficient quota for nvidia.com/gpu in flavor a100, previously considered "
            "podsets requests (8) + current podset request (32) > maximum capacity (24)",
            "requests 8 and 32 nvidia.com/gpu, but its queue can never use more than 24 of a100",
        ),
        (
            PREFIX + "resource rdma/ib unavailable in ClusterQueue",
            "its queue has no quota for rdma/ib",
        ),
        (
            PREFIX + "untolerated taint {gpu present NoSchedule <nil>} in flavor a100",
            "its pods do not match: untolerated taint {gpu present NoSchedule <nil>} in flavor a100",
        ),
        (
            PREFIX + "insufficient unused quota for nvidia.com/gpu in flavor a100, 4 more needed. "
            "Pending the preemption of 1 workload(s)",
            "waits until the jobs that it preempts have stopped",
        ),
        (
            'LocalQueue x doesn\'t exist in namespace n; did you mean "y"?',
            'never starts: LocalQueue x does not exist in namespace n; did you mean "y"?',
        ),
        ("ClusterQueue q is inactive", "its ClusterQueue is not active"),
        (
            "Workload no longer fits after processing another workload",
            "another job was admitted first",
        ),
        ("something new", "something new"),
    ],
)
def test_messages_of_kueue(message, words):
    assert plain(waiting(message=message)) == words


def test_a_job_without_a_node():
    found = waiting(reason="Unschedulable", message="0/3 nodes are available: 3 Too many pods.")
    assert plain(found) == "holds its quota, but no node has room for all its pods"


def test_a_job_without_a_queue_and_without_a_node():
    found = waiting(
        queue="", reason="Unschedulable", message="0/3 nodes are available: 3 Too many pods."
    )
    assert plain(found) == "no node has room for all its pods"


def test_messages_of_volcano():
    found = waiting(queue="", reason="Unschedulable", message="Volcano's queue q does not exist")
    assert plain(found) == "Volcano's queue q does not exist"


def test_a_job_that_is_not_simulated():
    found = waiting(reason="NotSimulated", message="a CronJob creates its Jobs later")
    assert plain(found) == "is not simulated: a CronJob creates its Jobs later"


def test_a_job_that_does_not_wait():
    assert plain(job()) == ""


@pytest.mark.parametrize(
    "reason, message, words",
    [
        (
            "Unschedulable",
            "queue resource quota insufficient: insufficient nvidia.com/gpu",
            "its queue in Volcano has too little left for its minimum",
        ),
        (
            "Unschedulable",
            "resource in cluster is overused: overused cpu",
            "other jobs have or wait for all for which Volcano enqueues jobs",
        ),
        (
            "NotEnoughResources",
            "1/2 tasks in gang unschedulable: pod group is not ready",
            "Volcano finds no room for its gang",
        ),
    ],
)
def test_reasons_of_volcano(reason, message, words):
    assert plain(job(reason=reason, message=message)) == words
