"""Tries are not repeated, until something changes on which they depend."""

import pytest

from policygen.simulate.kueue import cycle, known_tries
from policygen.simulate.kueue.assignment import assign
from policygen.simulate.kueue.entry import Outcome
from policygen.simulate.kueue.queue import ANY, LOWER_PRIORITY
from policygen.simulate.kueue.scheduler import Scheduler
from tests.servers.kueue_scenarios import drawn
from tests.servers.kueue_scheduler import Script, simulated
from tests.simulate.kueue import trees


@pytest.fixture
def tried(monkeypatch):
    """The names of the workloads that were really tried."""
    found = []

    def looked_up(state, workload, queue):
        result = known(state, workload, queue)
        if result is None:
            found.append(workload.uid)
        return result

    known = known_tries.known
    monkeypatch.setattr(cycle.known_tries, "known", looked_up)
    return found


def three_queues(borrowing=None, **settings):
    """Queues a, b and c of a cohort, with a quota of 4 each."""
    nodes = [trees.queue(it, 4, borrowing) for it in "abc"]
    root = trees.cohort("root", *nodes)
    return Scheduler(trees.state(root, *nodes, **settings))


def outcome(scheduler, workload):
    """Try again the first workloads of all queues; what becomes of this one."""
    scheduler.retry({it.node.root() for it in scheduler.state.queues.values()})
    found = {it.workload: it.outcome for it in scheduler.cycle(0.0)}
    return found[workload]


def test_a_change_in_another_queue_is_no_reason_to_try_again(tried):
    scheduler = three_queues(borrowing=0)
    trees.admit(scheduler.state, trees.workload("full", "a", 4))
    other = trees.admit(scheduler.state, trees.workload("other", "b", 3))
    waits = trees.workload("waits", "a", 2)
    scheduler.submit(waits)
    assert outcome(scheduler, waits) is Outcome.NO_CANDIDATES
    scheduler.finish(other)
    assert outcome(scheduler, waits) is Outcome.NO_CANDIDATES
    assert tried == ["waits"]
    assert waits.message.endswith("insufficient unused quota for gpu in flavor f, 2 more needed")


def test_an_end_in_its_own_queue_is_one(tried):
    scheduler = three_queues(borrowing=0)
    full = trees.admit(scheduler.state, trees.workload("full", "a", 4))
    waits = trees.workload("waits", "a", 2)
    scheduler.submit(waits)
    outcome(scheduler, waits)
    scheduler.finish(full)
    assert outcome(scheduler, waits) is Outcome.ADMITTED
    assert tried == ["waits", "waits"]


def test_so_is_quota_to_borrow():
    scheduler = three_queues()
    trees.admit(scheduler.state, trees.workload("full", "a", 4))
    lent = trees.admit(scheduler.state, trees.workload("lent", "b", 7))
    waits = trees.workload("waits", "a", 2)
    scheduler.submit(waits)
    assert outcome(scheduler, waits) is Outcome.NO_CANDIDATES
    scheduler.finish(lent)
    assert outcome(scheduler, waits) is Outcome.ADMITTED


def test_so_is_a_queue_that_begins_to_borrow(tried):
    """It may take its quota back from workloads of a lower priority, and there are none at first."""
    scheduler = three_queues(reclaim_within_cohort=LOWER_PRIORITY)
    old = trees.admit(scheduler.state, trees.workload("old", "b", 12, priority=9))
    waits = trees.workload("waits", "a", 2)
    scheduler.submit(waits)
    assert outcome(scheduler, waits) is Outcome.NO_CANDIDATES
    assert outcome(scheduler, waits) is Outcome.NO_CANDIDATES
    assert tried == ["waits"]
    scheduler.finish(old)
    trees.admit(scheduler.state, trees.workload("low", "c", 12, priority=-1))
    assert outcome(scheduler, waits) is Outcome.PREEMPTING


def test_so_is_a_borrower_whose_queue_is_not_stopped_any_more():
    scheduler = three_queues(reclaim_within_cohort=ANY)
    trees.admit(scheduler.state, trees.workload("b", "b", 12))
    scheduler.state.queues["b"].stop_policy = "Hold"
    waits = trees.workload("waits", "a", 2)
    scheduler.submit(waits)
    assert outcome(scheduler, waits) is Outcome.NO_CANDIDATES
    scheduler.stop_queue("b", "None", 0.0)
    assert outcome(scheduler, waits) is Outcome.PREEMPTING


def test_so_is_a_workload_of_its_queue_that_it_may_preempt():
    """As much as before is in use."""
    scheduler = three_queues(within_cluster_queue=LOWER_PRIORITY)
    full = trees.admit(scheduler.state, trees.workload("full", "a", 12))
    waits = trees.workload("waits", "a", 2)
    scheduler.submit(waits)
    assert outcome(scheduler, waits) is Outcome.NO_CANDIDATES
    scheduler.finish(full)
    trees.admit(scheduler.state, trees.workload("low", "a", 12, priority=-1))
    assert outcome(scheduler, waits) is Outcome.PREEMPTING


def test_so_is_room_in_its_cohort_which_gives_it_a_right_to_the_quota_that_others_borrow():
    a, b, c = (trees.queue(it, 4) for it in "abc")
    root = trees.cohort("root", trees.cohort("near", a, b), c)
    scheduler = Scheduler(trees.state(root, a, b, c, reclaim_within_cohort=ANY))
    trees.admit(scheduler.state, trees.workload("a", "a", 4))
    near = trees.admit(scheduler.state, trees.workload("b", "b", 4))
    trees.admit(scheduler.state, trees.workload("c", "c", 4))
    waits = trees.workload("waits", "a", 2)
    scheduler.submit(waits)
    assert outcome(scheduler, waits) is Outcome.NO_CANDIDATES
    scheduler.finish(near)
    trees.admit(scheduler.state, trees.workload("more", "c", 4))
    assert outcome(scheduler, waits) is Outcome.PREEMPTING


def test_a_search_among_candidates_is_repeated(tried):
    """It depends on the quota that all queues use."""
    scheduler = three_queues(reclaim_within_cohort=LOWER_PRIORITY)
    trees.admit(scheduler.state, trees.workload("high", "b", 6, priority=9))
    for it in ("one", "two"):
        trees.admit(scheduler.state, trees.workload(it, "c", 3, priority=-1))
    waits = trees.workload("waits", "a", 4)
    scheduler.submit(waits)
    assert outcome(scheduler, waits) is Outcome.NO_CANDIDATES
    outcome(scheduler, waits)
    assert tried == ["waits", "waits"]


def test_an_equal_workload_fits_as_the_one_before(tried):
    scheduler = three_queues()
    found = [
        trees.workload(name, "a", 2, created=i) for i, name in enumerate(("one", "two", "last"))
    ]
    for it in found:
        scheduler.submit(it)
    assert [outcome(scheduler, it) for it in found] == [Outcome.ADMITTED] * 3
    assert tried == ["one", "last"]  # the last one borrows
    assert found[1].admission.usage == found[0].admission.usage


def test_its_scan_of_flavors_ends_in_the_present_cycle():
    """Else Kueue would begin again with the first flavor, if others took the quota in this cycle."""
    state = three_queues().state
    queue = state.queues["a"]

    def ended(name):
        workload = trees.workload(name, "a")
        found = known_tries.known(state, workload, queue)
        if found is None:
            now = known_tries.moment(workload, queue)
            found = assign(state, workload, queue)
            known_tries.keep(state, workload, queue, now, found)
        return found.last.cycle, found.last.generation

    state.cycle = 1
    assert ended("one") == (1, queue.generation)
    state.cycle, queue.generation = 5, 7
    assert ended("two") == (5, 7)


@pytest.mark.parametrize("more", [{}, {"events": True}, {"topology": True}])
@pytest.mark.parametrize("most", [1, 1_000])
def test_without_memory_the_scheduler_decides_the_same(more, most, monkeypatch):
    """In drawn scenarios with cohorts, preemption and retries."""
    monkeypatch.setattr(known_tries, "_MOST", most)
    for seed in range(90):
        scenario = drawn(seed, fair=False, ties=seed % 2 == 0, **more)
        remembered = simulated(scenario, Script(()))
        with monkeypatch.context() as patch:
            patch.setattr(cycle.known_tries, "known", lambda *_: None)
            assert remembered == simulated(scenario, Script(())), seed
