"""Why GPUs are free, computed by hand. Two nodes have 8 GPUs and 64 cores each; a job requests 4 cores."""

import random

import pytest

from policygen.core.names import GPU
from policygen.simulate.recorder import Recorder
from policygen.simulate.scene_jobs import arrivals
from policygen.simulate.scene_schedulers import timeline
from policygen.simulate.stranded import (
    GANG,
    HOST,
    NO_MATCH,
    QUOTA,
    TOO_FEW,
    UNWANTED,
    WaitingRequests,
)
from policygen.simulate.wanted_pools import WantedPools
from tests.simulate.scenes import NODES, QUEUES, job, scene
from tests.simulate.test_recorder import HOUR, recorded
from tests.simulate.volcano.test_over_time import QUEUES as VOLCANO_QUEUES
from tests.simulate.volcano.test_over_time import conf, vcjob

WIDE = QUEUES.replace("nominalQuota: 12", "nominalQuota: 16")
SSD = ("restartPolicy: Never", "restartPolicy: Never\n      nodeSelector: {disk: ssd}")


def free(text, until=600):
    """The GPUs by cause until then."""
    found = recorded(text, until=until)
    (pool,) = found.pools
    assert sum(pool.stranded.values()) == pytest.approx((pool.gpus - pool.used_mean) * until)
    return {cause: amount / until for cause, amount in pool.stranded.items()}


def test_gpus_that_no_job_waits_for():
    assert free(WIDE + NODES + job("a", 5)) == {UNWANTED: 11}


def test_too_few_are_left_on_each_node():
    """Two jobs hold 5 GPUs of each node. A third, which needs 4 of the 6 others, has no node."""
    text = WIDE + NODES + job("a", 5) + job("b", 5) + job("c", 4)
    assert free(text) == {TOO_FEW: 4, UNWANTED: 2}


def test_cpu_is_used_up():
    text = WIDE + NODES.replace("cpu: 64", "cpu: 4")
    assert free(text + job("a", 1) + job("b", 1) + job("c", 1)) == {HOST: 1, UNWANTED: 13}


def test_the_pods_do_not_match_the_nodes():
    assert free(WIDE + NODES + job("a", 9).replace(*SSD)) == {NO_MATCH: 9, UNWANTED: 7}


def test_pods_that_wait_for_full_nodes_have_no_use_for_those_of_another_pool():
    """The third job has quota for the full nodes. The L4 have another flavor."""
    other = (
        WIDE.replace("a100", "l4")
        .replace("name: nlp", "name: other")
        .replace("name: main", "name: l4")
    )
    node = NODES.split("---\napiVersion: v1", 3)[1].replace("n0", "l0").replace("a100", "l4")
    queues = WIDE.replace("Quota: 16", "Quota: 64") + "---" + other.rpartition("---")[0]
    text = queues + NODES + "---\napiVersion: v1" + node
    found = recorded(text + job("a", 8) + job("b", 8) + job("c", 4), until=600)
    assert {it.name: dict(it.stranded) for it in found.pools}["l4"] == {UNWANTED: 8 * 600}


@pytest.mark.parametrize("seed", range(6))
def test_the_requests_of_waiting_workloads_follow_each_change(seed):
    """At each time they are the sum over all workloads that wait, tried or not."""
    chance = random.Random(seed)
    jobs = [
        job(
            f"j{i}",
            chance.choice((1, 2, 5, 8)),
            annotations=f"policygen.dev/arrives-after: {chance.randrange(3)}h",
        )
        for i in range(12)
    ]
    it = scene(QUEUES + NODES + "".join(jobs))
    recorder = Recorder(it)
    made = timeline(it, arrivals(it, HOUR), observer=recorder)
    recorder.follow(made)
    queue = next(iter(made.kueue.state.queues.values()))
    followed = WaitingRequests(queue, WantedPools(it, made))
    waited = set()
    for _ in made.run():
        pending = (*queue.pending.waiting(), *queue.pending.inadmissible.values())
        amount = sum(dict(each.pod_sets[0].requests)[GPU] for each in pending)
        assert followed.requested.get("a100", 0) == amount
        assert made.on_nodes == [each for each in made.jobs if each.bound]
        waited.add(amount)
    assert len(waited) > 2


@pytest.fixture
def two_nodes():
    """n0 has 6 free GPUs, and no cpu left. The queue has quota for all jobs."""
    one, other, rest = NODES.split("---\napiVersion: v1", 3)[1:]
    one = one.replace("{gpu: a100}", "{gpu: a100, disk: ssd}").replace("cpu: 64", "cpu: 4")
    other = other.replace("{gpu: a100}", "{gpu: a100, disk: hdd}")
    nodes = "".join(f"---\napiVersion: v1{it}" for it in (one, other, rest))
    return WIDE.replace("Quota: 16", "Quota: 64") + nodes + job("a", 2).replace(*SSD)


def on_n1(name, gpus):
    return job(name, gpus).replace(SSD[0], SSD[1].replace("ssd", "hdd"))


def test_of_several_pods_the_reason_that_is_closest_to_a_start_counts_for_a_node(two_nodes):
    """n1 is full. On n0, a pod of 1 GPU lacks only cpu, and one of 7 GPUs lacks a GPU, too."""
    text = two_nodes + on_n1("b", 8)
    assert free(text + job("c", 1)) == {HOST: 1, UNWANTED: 5}
    assert free(text + job("c", 7)) == {TOO_FEW: 6}
    assert free(text + job("c", 1) + job("d", 7)) == {HOST: 6}


def test_nodes_have_different_causes(two_nodes):
    """n1 has cpu and 3 free GPUs. Pods that request 4 wait for 8 of the 9 free ones."""
    text = two_nodes + on_n1("b", 5)
    assert free(text + job("c", 4)) == {HOST: 4, UNWANTED: 5}
    assert free(text + job("c", 4, pods=2)) == {HOST: 6, TOO_FEW: 2, UNWANTED: 1}


def test_jobs_that_wait_for_quota_count_what_they_request():
    """The quota of 12 is used; 4 GPUs are free, of which a job waits for 3."""
    text = QUEUES + NODES + job("a", 8) + job("b", 4)
    assert free(text + job("c", 3)) == {QUOTA: 3, UNWANTED: 1}
    assert free(text + job("c", 3) + job("d", 3)) == {QUOTA: 4}


def test_pods_on_nodes_count_before_jobs_without_quota():
    """Of 16 GPUs, 10 run, 6 are free: 4 for a pod with quota, 2 for a job that waits for it."""
    text = QUEUES.replace("nominalQuota: 12", "nominalQuota: 14") + NODES
    assert free(text + job("a", 5) + job("b", 5) + job("c", 4) + job("d", 8)) == {
        QUOTA: 2,
        TOO_FEW: 4,
    }


def test_a_gang_needs_room_for_all_its_pods():
    """Each node has room for a pod of 6 GPUs, but the gang has three, with 18 GPUs."""
    text = NODES + VOLCANO_QUEUES + conf("allocate")
    assert free(text + vcjob("a", "a", 3, 6)) == {GANG: 16}
    assert free(text + vcjob("a", "a", 2, 9)) == {TOO_FEW: 16}


def test_a_queue_of_volcano_that_may_not_use_the_rest():
    """Its queue may use 2 GPUs, so that four of its six pods wait, although nodes have room."""
    small = VOLCANO_QUEUES.replace(
        "deserved: {nvidia.com/gpu: 8}",
        "deserved: {nvidia.com/gpu: 2}, capability: {nvidia.com/gpu: 2}",
    )
    text = NODES + small + conf("allocate")
    assert free(text + vcjob("a", "a", 6, 1, more="minAvailable: 1")) == {QUOTA: 4, UNWANTED: 10}
    assert free(text + vcjob("a", "a", 6, 1)) == {QUOTA: 6, UNWANTED: 10}


def test_the_causes_add_up_over_time():
    found = recorded(QUEUES + NODES + job("a", 8) + job("b", 8) + job("c", 5) + job("d", 3))
    (pool,) = found.pools
    assert sum(pool.stranded.values()) == pytest.approx((16 - pool.used_mean) * found.until)
    assert pool.stranded[QUOTA] > 4 * HOUR
