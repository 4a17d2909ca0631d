"""When a job starts that does not exist yet."""

from policygen.simulate.scene_jobs import RUNS_FOR, arrivals
from policygen.simulate.why.fit import FitRequest, fit
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
