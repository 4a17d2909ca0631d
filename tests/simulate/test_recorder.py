"""Sums of simulations, computed by hand."""

from math import inf

from policygen.simulate.recorder import Recorder
from policygen.simulate.result import JobState
from policygen.simulate.scene_jobs import arrivals
from policygen.simulate.scene_schedulers import timeline
from policygen.simulate.stranded import QUOTA, UNWANTED
from policygen.simulate.why.causes import CauseKind
from tests.simulate.scenes import NODES, QUEUES, job, scene

HOUR = 3600.0


def recorded(text, duration=HOUR, **more):
    it = scene(text)
    recorder = Recorder(it)
    made = timeline(it, arrivals(it, duration), observer=recorder, **more)
    recorder.follow(made)
    for _ in made.run():
        pass
    return recorder.result()


def test_a_job_its_team_and_its_pool():
    """One job of 8 GPUs runs for an hour. The second waits for it, because the quota is 12."""
    found = recorded(QUEUES + NODES + job("a", 8) + job("b", 8))
    first, second = found.jobs
    assert (first.waited, second.waited) == (0, HOUR + 1)
    assert (first.nodes, second.flavors, second.queue) == ({"n0": 1}, ("a100",), "nlp")
    assert found.until == 2 * HOUR + 1
    (team,) = found.teams
    assert (team.name, team.jobs, team.finished) == ("nlp", 2, 2)
    assert (team.waiting_median, team.waiting_p95) == ((HOUR + 1) / 2, HOUR + 1)
    assert team.gpu_seconds == 16 * HOUR
    (use,) = team.uses
    assert (use.guarantee, use.limit, use.most, use.gpu_seconds) == (12, 12, 8, 16 * HOUR)
    (pool,) = found.pools
    assert (pool.gpus, pool.used_most, pool.jobs) == (16, 8, 2)
    assert round(pool.used_mean, 2) == 8
    # Eight GPUs wait for the quota of b until it starts, a second after a has ended.
    assert pool.stranded == {QUOTA: 8 * HOUR + 8, UNWANTED: 8 * HOUR + 8}


def test_the_reason_of_pods_without_a_matching_node():
    text = (
        QUEUES
        + NODES
        + job("a", 1).replace("restartPolicy", "nodeSelector: {disk: ssd}, restartPolicy")
    )
    text = text.replace("nodeSelector: {disk: ssd}, ", "nodeSelector: {disk: ssd}\n      ")
    found = recorded(text, until=600)
    (waits,) = found.jobs
    assert waits.reason == "Unschedulable"
    assert waits.message == (
        "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector."
    )


def test_a_job_above_the_quota_waits_with_the_message_of_kueue():
    (found,) = recorded(QUEUES + job("a", 13), until=60).jobs
    assert (found.started, found.waited, found.reason) == (None, 60, "Pending")
    assert "maximum capacity (12)" in found.message


def test_a_job_without_a_queue():
    (found,) = recorded(QUEUES + job("a", 1, queue="other"), until=60).jobs
    assert found.message == "LocalQueue other doesn't exist in namespace nlp; known: main"


def test_pods_that_never_find_a_node_do_not_run_for_ever():
    """Kueue 0.19 evicts the job after 30 minutes, again and again. The end is that of the other job."""
    text = QUEUES + NODES.replace("cpu: 64", "cpu: 4") + job("a", 1) + job("b", 1)
    found = recorded(
        text.replace(
            "cpu: 4}, limits: {nvidia.com/gpu: 1", "cpu: 5}, limits: {nvidia.com/gpu: 1", 1
        )
    )
    first, second = found.jobs
    assert (first.started, first.preempted, second.ended) == (None, 0, HOUR)
    assert first.evicted > 0
    assert (first.waited, found.until) == (HOUR, HOUR)
    assert (first.state, first.wait, found.teams[0].never) == (JobState.NEVER, inf, 1)
    assert first.cause.kind is CauseKind.NO_NODES
    assert first.cause.nearest.resource == "cpu"
    assert found.teams[0].uses[0].gpu_seconds <= 2 * HOUR


def test_what_happens_after_the_end_does_not_count():
    """The only job never starts. Kueue gives it quota and takes it back, but the simulation ends before."""
    found = recorded(QUEUES + NODES.replace("cpu: 64", "cpu: 3") + job("a", 1))
    assert (found.until, found.jobs[0].waited) == (0, 0)
    assert found.jobs[0].evicted > 0
    assert (found.teams[0].uses[0].gpu_seconds, found.pools[0].used_mean) == (0, 0)


def test_jobs_that_wait_at_a_given_end_may_start_later():
    """One job needs more than the quota; one waits for another; one is submitted after the end."""
    later = job("d", 1, annotations="policygen.dev/arrives-after: 2h")
    text = QUEUES + job("a", 12) + job("b", 12) + job("c", 13) + later
    found = recorded(text, until=600)
    assert [it.state.value for it in found.jobs] == ["running", "waiting", "never-starts"]
    assert found.later == ("nlp/d",)
    assert found.jobs[1].cause.obstacles[0].holders[0].workloads == ("nlp/a",)


SELECTS = ("restartPolicy: Never", "restartPolicy: Never\n      nodeSelector: {gpu: h100}")


def test_a_job_that_no_flavor_matches_waits_for_no_pool():
    found = recorded(QUEUES + NODES + job("a", 8) + job("b", 8).replace(*SELECTS))
    assert found.jobs[1].cause.kind is CauseKind.FLAVORS_REFUSE
    (pool,) = found.pools
    assert (pool.jobs, pool.waiting_p95, pool.stranded) == (1, 0, {UNWANTED: 8 * HOUR})


def test_a_job_that_never_starts_counts_in_its_pool():
    """Its queue can give it at most 12 GPUs."""
    found = recorded(QUEUES + NODES + job("a", 8) + job("b", 16))
    (pool,) = found.pools
    assert (pool.jobs, pool.waiting_median, pool.waiting_p95) == (2, inf, inf)
    assert pool.stranded == {QUOTA: 8 * HOUR}  # b requests 16


def test_pods_without_kueue_count_in_the_pools_that_they_match():
    found = recorded(QUEUES + NODES + job("a", 9, queue="") + job("b", 8, queue=""))
    (pool,) = found.pools
    assert (pool.jobs, pool.waiting_p95) == (2, inf)
    found = recorded(QUEUES + NODES + job("a", 8, queue="").replace(*SELECTS))
    assert found.pools[0].jobs == 0


FEWER = "kueue.x-k8s.io/job-min-parallelism: '1'"


def partly(more="", pods=8):
    """A job of 2 GPUs in each pod, of which 12 GPUs of quota hold six. It runs for an hour with all."""
    found = recorded(
        QUEUES + NODES + job("a", 2, pods=pods, annotations=f"{FEWER}{more}"), duration=HOUR
    )
    return found.jobs[0], found.teams[0]


def test_a_job_that_runs_with_fewer_pods_uses_fewer_gpus():
    """Eight pods must end, and six run at once: the last two take another hour."""
    found, team = partly()
    assert (found.gpus, found.pods, found.pod_starts) == (16, 8, ((0, 6),))
    assert found.ended == 2 * HOUR
    assert found.gpu_seconds == team.gpu_seconds == 12 * 2 * HOUR
    assert team.uses[0].gpu_seconds == 12 * 2 * HOUR


def test_fewer_pods_share_the_work_if_no_number_must_end():
    """Kueue lowers completions, too: six pods do the work of eight."""
    found, team = partly(", kueue.x-k8s.io/job-completions-equal-parallelism: 'true'")
    assert found.ended == HOUR * 8 / 6
    assert team.gpu_seconds == 16 * HOUR


def test_a_job_that_begins_again_with_fewer_pods_loses_what_more_ran():
    """At 0, 8 GPUs are free for 4 of 6 pods. A job with a priority preempts them at half an hour, for an hour."""
    text = QUEUES.replace(
        "spec:\n  namespaceSelector",
        "spec:\n  preemption: {withinClusterQueue: LowerPriority}\n  namespaceSelector",
    )
    high = """
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: WorkloadPriorityClass
metadata: {name: high}
value: 100
"""
    urgent = job("c", 8, annotations="policygen.dev/arrives-after: 30m").replace(
        "labels: {", "labels: {kueue.x-k8s.io/priority-class: high, "
    )
    found = recorded(
        text
        + NODES
        + high
        + job("a", 4, annotations="policygen.dev/runs-for: 10m")
        + job("b", 2, pods=6, annotations=f"{FEWER}, policygen.dev/arrives-after: 1s")
        + urgent
    )
    b = next(it for it in found.jobs if it.name == "nlp/b")
    assert (b.preempted, b.lost) == (1, 1799)
    assert b.lost_gpu_seconds == 1799 * 8
    assert b.pod_starts == ((1800.0, 2),)
    assert b.ended == 1800 + 3 * HOUR  # six pods, two at a time
    assert b.gpu_seconds == 1799 * 8 + 3 * HOUR * 4
