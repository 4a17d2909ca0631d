"""The waiting workloads of one ClusterQueue."""

import random

import pytest

from policygen.simulate.kueue import queue as queues
from policygen.simulate.kueue.pending import PendingQueue
from policygen.simulate.kueue.workload import LastAssignment
from tests.servers.kueue_scenarios import drawn
from tests.servers.kueue_scheduler import Script, simulated
from tests.simulate.kueue.plain_pending import PlainPending
from tests.simulate.kueue.trees import workload

HERE = frozenset(["n"])


def names(queue):
    found = []
    while (it := queue.head()) is not None:
        found.append(it.uid)
        queue.remove(it)
    return found


def filled(*workloads, strict=False):
    queue = PendingQueue(strict=strict)
    for it in workloads:
        queue.push(it)
    return queue


def test_priority_precedes_time_and_time_precedes_the_uid():
    first, second = workload("b", created=1), workload("a", created=2)
    urgent, equal = workload("c", priority=9, created=3), workload("z", created=1)
    assert names(filled(second, equal, first, urgent)) == ["c", "b", "z", "a"]


def test_a_removed_workload_is_skipped():
    gone, left = workload("a"), workload("b", created=1)
    queue = filled(gone, left)
    queue.remove(gone)
    assert (gone in queue, left in queue, len(queue)) == (False, True, 1)
    assert names(queue) == ["b"]


def test_what_did_not_fit_waits_with_its_equals_until_a_retry():
    """Two equal workloads and one of another priority."""
    one, equal = workload("a"), workload("b", created=1)
    other = workload("c", priority=-1)
    queue = filled(one, equal, other)
    queue.requeue(queue.head(), again=False, no_fit=True, preempting=False)
    assert [it.uid for it in queue.waiting()] == ["c"]
    queue.push(later := workload("d", created=2))
    assert later in queue
    assert set(queue.inadmissible) == {"n/a", "n/b", "n/d"}
    assert queue.retry(frozenset()) == 0
    assert queue.retry(HERE) == 3
    assert names(queue) == ["a", "b", "d", "c"]


def test_a_strict_queue_parks_only_the_workload_itself():
    queue = filled(workload("a"), workload("b", created=1), strict=True)
    queue.requeue(queue.head(), again=False, no_fit=True, preempting=False)
    assert names(queue) == ["b"]


def test_a_workload_with_flavors_left_is_tried_again():
    it = workload("a")
    queue = filled(it)
    it.last = LastAssignment([{"gpu": 0}], 1, 1)
    queue.requeue(it, again=False, no_fit=False, preempting=False)
    assert queue.head() is it
    it.last = LastAssignment([{"gpu": -1}], 1, 1)
    queue.requeue(it, again=False, no_fit=False, preempting=False)
    assert names(queue) == []


def test_a_preemptor_is_tried_before_more_urgent_workloads():
    for strict, order in ((False, ["a", "b"]), (True, ["b", "a"])):
        preemptor = workload("a")
        queue = filled(preemptor, strict=strict)
        queue.requeue(queue.head(), again=True, no_fit=False, preempting=True)
        queue.push(workload("b", priority=9))
        assert names(queue) == order


def drawn_steps(seed):
    """Workloads of two namespaces, four equivalences and few times, and what happens to them."""
    source = random.Random(seed)
    for i in range(200):
        what = source.choice(["push", "push", "push", "try", "try", "remove", "retry"])
        it = workload(f"w{i}", amount=source.randint(1, 2), priority=source.randint(0, 1))
        it.name = f"{source.choice('no')}/w{i}"
        it.behind = float(source.randint(0, 3))
        yield (
            what,
            it,
            source.choice([frozenset("n"), frozenset("o"), frozenset("no")]),
            {
                "again": source.random() < 0.3,
                "no_fit": source.random() < 0.5,
                "preempting": source.random() < 0.2,
            },
            source.random(),
        )


def played(queue, steps):
    """What a queue returns at each step, and what it has then."""
    known = []
    for what, it, namespaces, result, chance in steps:
        found = None
        if what == "push":
            queue.push(it)
            known.append(it)
        elif what == "try" and (tried := queue.head()) is not None:
            found = tried.name
            if chance < 0.7:
                queue.requeue(tried, **result)
            else:
                queue.remove(tried)
        elif what == "remove" and known:
            queue.remove(known[int(chance * len(known))])
        elif what == "retry":
            found = queue.retry(namespaces)
        waiting = sorted(it.name for it in queue.waiting())
        yield found, len(queue), waiting, sorted(queue.inadmissible), [it in queue for it in known]


@pytest.mark.parametrize("strict", [False, True])
def test_equal_workloads_kept_together_change_nothing(strict):
    for seed in range(60):
        steps = list(drawn_steps(seed))
        fast, plain = (it(strict=strict) for it in (PendingQueue, PlainPending))
        for one, other in zip(played(fast, steps), played(plain, steps), strict=True):
            assert one == other, seed


def test_a_scheduler_decides_the_same_with_equal_workloads_kept_together(monkeypatch):
    """In drawn scenarios with cohorts, preemption and retries."""
    for fair in (False, True):
        for seed in range(40):
            scenario = drawn(seed, fair=fair)
            fast = simulated(scenario, Script(()))
            with monkeypatch.context() as patch:
                patch.setattr(queues, "PendingQueue", PlainPending)
                assert fast == simulated(scenario, Script(())), (seed, fair)
