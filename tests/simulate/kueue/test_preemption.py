"""Whom a workload may preempt, without fair sharing."""

import pytest

from policygen.simulate.kueue import preemption
from policygen.simulate.kueue.preemption import targets
from policygen.simulate.kueue.queue import ANY, LOWER_PRIORITY, NEWER_EQUAL
from policygen.simulate.kueue.victims import Preemptor
from tests.servers.kueue_scenarios import drawn
from tests.servers.kueue_scheduler import Script, simulated
from tests.simulate.kueue.trees import admit, cohort, queue, state, workload


def made(**settings):
    """A cohort of a (4 GPUs) and b (4 GPUs)."""
    a, b = queue("a", 4), queue("b", 4)
    return state(cohort("root", a, b), a, b, **settings)


def victims(state, preemptor):
    amount = preemptor.pod_sets[0].requests[0][1]
    needs = frozenset([0])
    found = targets(Preemptor(state, preemptor, state.queue_of(preemptor), needs, {0: amount}))
    return {it.workload.uid: it.reason.value for it in found}


def usage(state):
    return [state.queues[it].node.usage[0] for it in "ab"]


def test_by_default_no_workload_is_preempted():
    it = made()
    admit(it, workload("w", "b", 8))
    assert victims(it, workload("new", amount=4, priority=9)) == {}


@pytest.mark.parametrize(
    ("policy", "priority", "created", "found"),
    [
        (LOWER_PRIORITY, 1, 0, {"w"}),
        (LOWER_PRIORITY, 0, -1, set()),
        (NEWER_EQUAL, 0, -1, {"w"}),
        (NEWER_EQUAL, 0, 1, set()),
    ],
)
def test_within_its_queue(policy, priority, created, found):
    it = made(within_cluster_queue=policy)
    admit(it, workload("w", "a", 8))
    new = workload("new", amount=4, priority=priority, created=created)
    assert victims(it, new) == dict.fromkeys(found, "InClusterQueue")


def test_a_guarantee_is_reclaimed_from_a_queue_that_borrows():
    """b borrows 2 of a's 4; the newest of b's workloads goes, and only as many as are needed."""
    it = made(reclaim_within_cohort=ANY)
    for i in range(3):
        admit(it, workload(f"w{i}", "b", 2, priority=5), at=i)
    assert victims(it, workload("new", amount=4)) == {"w2": "InCohortReclamation"}
    assert usage(it) == [0, 6]


def test_a_queue_within_its_quota_is_left_alone():
    it = made(reclaim_within_cohort=ANY)
    admit(it, workload("w", "b", 4))
    admit(it, workload("own", "a", 4))
    assert victims(it, workload("new", amount=2)) == {}


def test_lower_priorities_go_first_and_those_that_can_stay_do():
    """2 GPUs are missing. The workload of 1 goes first, but that of 3 alone is enough."""
    it = made(reclaim_within_cohort=ANY)
    admit(it, workload("small", "b", 1, priority=1))
    admit(it, workload("large", "b", 3, priority=2))
    admit(it, workload("kept", "b", 2, priority=3))
    assert victims(it, workload("new", amount=4)) == {"large": "InCohortReclamation"}


def test_a_workload_that_borrows_preempts_others_only_if_it_may():
    settings = {"reclaim_within_cohort": LOWER_PRIORITY}
    new = {"amount": 6, "priority": 9}
    it = made(**settings)
    admit(it, workload("w", "b", 6, priority=1))
    assert victims(it, workload("new", **new)) == {}
    it = made(**settings, borrow_within_cohort=LOWER_PRIORITY)
    admit(it, workload("w", "b", 6, priority=1))
    assert victims(it, workload("new", **new)) == {"w": "InCohortReclaimWhileBorrowing"}
    it = made(**settings, borrow_within_cohort=LOWER_PRIORITY, priority_threshold=0)
    admit(it, workload("w", "b", 6, priority=1))
    assert victims(it, workload("new", **new)) == {}


def test_the_evicted_are_victims_before_all_others():
    it = made(within_cluster_queue=LOWER_PRIORITY)
    admit(it, workload("low", "a", 4, priority=1))
    admit(it, workload("leaving", "a", 4, priority=2)).evicted = True
    assert victims(it, workload("new", amount=4, priority=9)) == {"leaving": "InClusterQueue"}


def test_searches_that_end_early_find_what_complete_searches_find(monkeypatch):
    """In drawn scenarios: each candidate is tried, also without effect, in the order of `Preemptor.order`."""
    may_fit, of_cohort, preemptors, ends = preemption._may_fit, preemption._of_cohort, [], []  # noqa: SLF001 - what must change nothing
    only, omitted = preemption._only_borrowing, []  # noqa: SLF001 - likewise

    def always(preemptor, candidates):
        preemptors.append(preemptor)
        ends.append(may_fit(preemptor, candidates))
        return True

    def sorted_by_all(candidates):
        lists = [
            sorted(each, key=lambda it: preemptors[-1].order(it.workload))
            for each in (candidates.hierarchical, candidates.others, candidates.own)
        ]
        evicted = [it for each in lists for it in each if it.workload.evicted]
        return evicted + [it for each in lists for it in each if not it.workload.evicted]

    def complete(preemptor):
        with monkeypatch.context() as patch:
            patch.setattr(preemption, "_only_borrowing", lambda _: False)
            every = of_cohort(preemptor)
        omitted.append(only(preemptor) and every != of_cohort(preemptor))
        return every

    for seed in range(300):
        scenario = drawn(seed, fair=False)
        found = simulated(scenario, Script(()))
        with monkeypatch.context() as patch:
            patch.setattr(preemption, "_may_fit", always)
            patch.setattr(preemption, "_ordered", sorted_by_all)
            patch.setattr(preemption, "_of_cohort", complete)
            assert found == simulated(scenario, Script(())), seed
    assert min(ends.count(True), ends.count(False), omitted.count(True)) > 10
