"""What people and controllers change over time: stop policies, deactivation, checks, pods that are not ready."""

import pytest

from policygen.simulate.kueue.pods_ready import PodsReadyRule
from policygen.simulate.kueue.scheduler import READY, REJECTED, RETRY, Scheduler
from tests.simulate.kueue import trees


@pytest.fixture
def scheduler():
    """A queue `a` with 2 GPUs."""
    node = trees.queue("a", 2)
    return Scheduler(trees.state(node, node))


def _admitted(scheduler, name="w", checks=(), **values):
    workload = trees.workload(name, "a")
    for key, value in values.items():
        setattr(workload, key, value)
    scheduler.state.queues["a"].checks = {it: frozenset() for it in checks}
    scheduler.submit(workload)
    scheduler.cycle(0.0)
    assert workload.admission is not None
    return workload


def _release(scheduler, now):
    for it in scheduler.evicted():
        scheduler.release(it, now)


@pytest.mark.parametrize(
    ("local", "queue", "message"),
    [
        ({}, "n/b", "LocalQueue b doesn't exist"),
        ({"n/b": "gone"}, "n/b", "ClusterQueue gone doesn't exist"),
        ({"n/b": "a"}, "n/b", ""),
    ],
)
def test_a_workload_without_its_queues_waits_with_the_reason(scheduler, local, queue, message):
    scheduler.state.local_queues = local
    workload = trees.workload("w", queue.partition("/")[2])
    scheduler.submit(workload)
    assert workload.message == message
    assert scheduler.waits() is (not message)
    scheduler.finish(workload, 1.0)


def test_hold_keeps_what_runs_and_admits_nothing_else(scheduler):
    first = _admitted(scheduler)
    scheduler.stop_queue("a", "Hold", 1.0)
    second = trees.workload("v", "a")
    scheduler.submit(second)
    assert not scheduler.waits()
    assert second.message == "ClusterQueue a is inactive"
    assert not scheduler.evicted()
    assert first.admission is not None
    scheduler.stop_queue("a", "None", 2.0)
    scheduler.cycle(2.0)
    assert second.admission is not None


@pytest.mark.parametrize("local", [False, True])
def test_hold_and_drain_evicts_until_the_queue_starts_again(scheduler, local):
    workload = _admitted(scheduler)
    if local:
        scheduler.stop_local_queue("n/a", "HoldAndDrain", 1.0)
    else:
        scheduler.stop_queue("a", "HoldAndDrain", 1.0)
    assert scheduler.evicted() == [workload]
    _release(scheduler, 1.0)
    assert not scheduler.waits()
    if local:
        scheduler.stop_local_queue("n/a", "None", 2.0)
    else:
        scheduler.stop_queue("a", "None", 2.0)
    scheduler.cycle(2.0)
    assert workload.admission is not None


def test_a_deactivated_workload_leaves_until_it_is_activated(scheduler):
    workload = _admitted(scheduler)
    scheduler.set_active(workload, active=False)
    _release(scheduler, 1.0)
    assert (workload.message, scheduler.waits()) == ("The workload is deactivated", False)
    scheduler.set_active(workload, active=True)
    assert scheduler.where(workload) == "heap"


def test_a_workload_is_admitted_once_all_its_checks_are_ready(scheduler):
    workload = _admitted(scheduler, checks=("x", "y"))
    scheduler.check(workload, "x", READY, 1.0)
    assert workload.admitted_at is None
    scheduler.check(workload, "y", READY, 2.0)
    assert workload.admitted_at == 2.0


def test_a_rejected_check_deactivates(scheduler):
    workload = _admitted(scheduler, checks=("x",))
    scheduler.check(workload, "x", REJECTED, 1.0)
    _release(scheduler, 1.0)
    assert workload.message == (
        'The workload is deactivated due to AdmissionCheck in Rejected state: "x"'
    )
    assert not workload.active


def test_a_retry_evicts_after_its_time_and_puts_the_workload_behind(scheduler):
    workload = _admitted(scheduler, checks=("x",))
    scheduler.check(workload, "x", RETRY, 1.0, retry_after=60.0)
    assert scheduler.next_time() == 61.0
    scheduler.tick(60.0)
    assert not scheduler.evicted()
    scheduler.tick(61.0)
    _release(scheduler, 61.0)
    assert scheduler.where(workload) == "heap"
    assert workload.queued == 61.0


def test_a_rejection_waits_until_the_time_of_a_retry_is_over(scheduler):
    """As in scenario 2026112391000153 of tests.servers.kueue_scheduler."""
    workload = _admitted(scheduler, checks=("x", "y"))
    scheduler.check(workload, "x", RETRY, 1.0, retry_after=60.0)
    scheduler.check(workload, "y", REJECTED, 30.0)
    scheduler.tick(60.0)
    assert workload.active
    scheduler.tick(61.0)
    _release(scheduler, 61.0)
    assert not workload.active


def test_pods_that_are_not_ready_in_time_are_tried_again_and_at_last_deactivated(scheduler):
    scheduler.state.pods_ready = PodsReadyRule(100.0, 10.0, 50.0, 1)
    workload = _admitted(scheduler)
    scheduler.tick(100.0)
    _release(scheduler, 100.0)
    assert scheduler.where(workload) == "inadmissible"
    assert scheduler.next_time() == 110.0
    scheduler.tick(110.0)
    scheduler.cycle(110.0)
    scheduler.tick(210.0)
    assert not workload.active
    assert workload.message.endswith("exceeding the maximum number of re-queuing retries")


def test_ready_pods_have_no_timeout(scheduler):
    scheduler.state.pods_ready = PodsReadyRule(100.0)
    workload = _admitted(scheduler)
    scheduler.ready(workload)
    scheduler.tick(100.0)
    assert not scheduler.evicted()


def test_the_maximum_execution_time_counts_all_admissions(scheduler):
    workload = _admitted(scheduler, maximum_execution=100)
    scheduler.stop_queue("a", "HoldAndDrain", 60.0)
    _release(scheduler, 60.0)
    scheduler.stop_queue("a", "None", 70.0)
    scheduler.cycle(70.0)
    scheduler.tick(100.0)
    assert workload.active
    scheduler.tick(110.0)
    assert workload.message.endswith("exceeding the maximum execution time")
    assert not workload.active


def test_quota_that_a_stopped_local_queue_frees_is_not_noticed(scheduler):
    """As in Kueue 0.19: nothing tries the others again."""
    workload = _admitted(scheduler)
    scheduler.changed()
    scheduler.stop_local_queue("n/a", "Hold", 1.0)
    scheduler.finish(workload, 2.0)
    assert not scheduler.changed()


def test_a_local_queue_that_was_not_stopped_is_not_started(scheduler):
    """Kueue does not queue a deactivated workload then, and does not notice that it is deleted."""
    workload = trees.workload("w", "a")
    workload.active = False
    scheduler.submit(workload)
    scheduler.stop_local_queue("n/a", "None", 1.0)
    scheduler.finish(workload, 2.0)
    assert not scheduler.changed()


def test_a_deactivation_ends_the_wait_after_pods_that_were_not_ready(scheduler):
    scheduler.state.pods_ready = PodsReadyRule(timeout=50, base=300)
    workload = _admitted(scheduler)
    scheduler.tick(50.0)
    _release(scheduler, 50.0)
    scheduler.set_active(workload, active=False)
    assert not scheduler.waits()
    scheduler.set_active(workload, active=True)
    assert scheduler.waits()


def test_who_activates_a_workload_that_ran_its_time_lets_kueue_try_others_again(scheduler):
    workload = _admitted(scheduler, maximum_execution=100)
    scheduler.tick(100.0)
    _release(scheduler, 100.0)
    scheduler.changed()
    scheduler.set_active(workload, active=True)
    assert not workload.active
    assert scheduler.changed() == {scheduler.state.queues["a"].node}


def test_both_times_can_be_over_at_once(scheduler):
    """Kueue deactivates it for its pods, and again when somebody activates it."""
    scheduler.state.pods_ready = PodsReadyRule(timeout=100, limit=0)
    workload = _admitted(scheduler, maximum_execution=100)
    scheduler.tick(100.0)
    _release(scheduler, 100.0)
    assert workload.message.endswith("exceeding the maximum number of re-queuing retries")
    scheduler.set_active(workload, active=True)
    assert not workload.active
