"""When a job starts that does not exist yet."""

from policygen.simulate.input_faults import RUNS_FOR
from policygen.simulate.instant import instant
from policygen.simulate.scene_jobs import arrivals
from policygen.simulate.why.fit import fit
from policygen.simulate.why.fit_jobs import FitRequest
from tests.simulate import scenes
from tests.simulate.test_instant import READY
from tests.simulate.why.waiting import PLAIN, flavor, job, local, priority, queue, scene


def runs(it, time):
    it["metadata"].setdefault("annotations", {})[RUNS_FOR] = time
    return it


def answer(request, *things, duration=None):
    made = scene(*things)
    return fit(made, arrivals(made, duration), request)


def test_it_starts_after_a_job_that_waits_now_has_run_too():
    """b runs for 1 minute. c waits for b, is before the new job, and runs for 1 minute, too."""
    things = (*PLAIN, runs(job("b", pods=8), "1m"), runs(job("c", pods=8), "1m"))
    found = answer(FitRequest("n", 8), *things)
    assert 120 <= found.start.after <= 122
    assert found.start.ends == ("n/c",)
    assert not found.explanation.ends


def test_a_preemption_at_that_time_starts_it():
    """The new job has a higher priority than c, but only when b has ended it has room with c's GPUs."""
    policy = {"withinClusterQueue": "LowerPriority"}
    queues = (
        flavor(),
        queue("q", preemption=policy),
        local(),
        priority("high", 9),
        priority("top", 99),
    )
    jobs = runs(job("b", pods=5, rank="top"), "1m"), runs(job("c", pods=3), "10m")
    found = answer(FitRequest("n", 8, priority="high"), *queues, *jobs)
    assert (found.start.after, found.start.ends) == (60.0, ("n/b",))
    assert found.start.preempts == ("n/c",)


def test_what_runs_without_end_is_unknown():
    things = (*PLAIN, runs(job("b", pods=1), "1m"), job("c", pods=7))
    found = answer(FitRequest("n", 8), *things)
    assert (found.start.after, found.start.unknown) == (None, 1)


def test_what_never_starts_has_no_time():
    assert answer(FitRequest("n", 9), *PLAIN, job("b", pods=8), duration=60.0).start is None


def test_a_job_whose_pods_are_not_ready_in_time_leaves():
    """Three pods of 5 GPUs need three nodes, and there are two. Kueue evicts the job after 5 minutes."""
    text = scenes.QUEUES.replace("nominalQuota: 12", "nominalQuota: 16") + scenes.NODES + READY
    made = scenes.scene(text + scenes.job("a", 5, 3))
    state = instant(made, arrivals(made, 3600.0), None)
    found = fit(state.scene, state.arrivals, FitRequest("nlp", 8))
    assert found.start.after == 301.0  # a second after the eviction
    made = scenes.scene(text.replace("5m", "10h") + scenes.job("a", 5, 3))
    state = instant(made, arrivals(made, 3600.0), 1800.0)
    assert (
        fit(state.scene, state.arrivals, FitRequest("nlp", 8)).start.after == 10 * 3600 - 1800 + 1
    )


def test_who_still_holds_quota_if_nothing_changes_any_more():
    """Kueue does not wait for pods, so the job keeps its quota."""
    text = scenes.QUEUES.replace("nominalQuota: 12", "nominalQuota: 16") + scenes.NODES + READY
    text = text.replace(
        "waitForPodsReady: {timeout: 5m}", "featureGates: {DisableWaitForPodsReady: true}"
    )
    made = scenes.scene(text + scenes.job("a", 5, 3))
    state = instant(made, arrivals(made, 3600.0), None)
    found = fit(state.scene, state.arrivals, FitRequest("nlp", 8)).start
    assert (found.after, found.unknown, found.left) == (None, 0, ("nlp/a",))
