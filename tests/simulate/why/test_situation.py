"""What Kueue decides until nothing changes, and trials that leave no trace."""

from tests.simulate.why.waiting import PLAIN, SHARED, asked, flavor, job, local, priority, queue


def test_a_trial_leaves_no_trace():
    """high preempts low. In a trial without it, low still runs."""
    policy = {"withinClusterQueue": "LowerPriority"}
    things = (flavor(), queue("q", preemption=policy), local(), priority("high", 9))
    _, high = asked("high", *things, job("high", pods=8, rank="high"))
    alone, low = asked("low", *things, job("low", pods=8))
    running = alone.going_on(alone.settle(keep=True))
    for _ in range(2):
        found = running.settle(high)
        assert [(it.victim, it.preemptor) for it in found.evictions] == [(low.name, high.name)]
        assert list(found.admitted) == [high.name]
    assert list(running.settle().admitted) == [low.name]


def test_workloads_that_never_fit_do_not_end_the_search():
    them = [job(f"large-{i}", pods=9 + i) for i in range(3)]
    found, small = asked("small", *PLAIN, *them, job("small"))
    assert list(found.settle().admitted) == [small.name]


def test_other_trees_are_left_out():
    found, _ = asked("a", *SHARED, queue("z"), local("z", "z"), job("a"), job("b", to="z"))
    near = found.around(["q"], "n")
    names = {it.name for it in near.objects if it.kind == "ClusterQueue"}
    assert names == {"q", "r"}
    assert (len(near.pending), len(found.pending)) == (1, 2)


def test_workloads_that_end_hold_nothing():
    found, large = asked("large", *PLAIN, job("small"), job("large", pods=8))
    small = next(it.name for it in found.pending if it.name != large.name)
    now = found.settle(keep=True)
    assert list(now.admitted) == [small]
    after = found.going_on(now)
    assert large.name not in after.settle(large).admitted
    assert large.name in after.settle(large, without={small}).admitted


def test_only_the_queues_of_a_flavor_use_it():
    """All share one cohort. a holds quota of f, and c quota of g."""
    near, _ = asked(
        "d", flavor(), flavor("g"), queue("q", cohort="c"), queue("r", cohort="c", flavors=("g",)),
        local(), local("r", "r"), job("a"), job("c", to="r"), job("d", pods=9), job("e", to="r"),
    )  # fmt: skip
    near = near.going_on(near.settle(keep=True))

    def using(name):
        return {it.split("-")[1] for it in near.using({name})}

    assert (using("f"), using("g")) == ({"a", "d"}, {"c", "e"})
