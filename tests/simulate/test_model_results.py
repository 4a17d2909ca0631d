"""How many pods of models run, and what a change does to them."""

from policygen.simulate.model_results import model_changes, model_results
from tests.simulate.results import job, result, waiting

RUNS = {"model": "m", "ended": None, "running": True}


def runs(name, pods=1, **more):
    return job(name, pods=pods, pod_starts=((0.0, pods),), **{**RUNS, **more})


def test_pods_of_all_jobs_of_a_model_count():
    """The last job has two of four pods on nodes, and does not count as started."""
    part = waiting("n/m-2", model="m", pods=4, nodes={"x": 2})
    found = model_results([runs("n/m-0"), job("n/a"), waiting("n/m-1", model="m"), part])
    (one,) = found
    assert (one.name, one.pods, one.run, one.gpus) == ("n/m", 6, 3, 24)
    assert [it.name for it in one.waiting] == ["n/m-1", "n/m-2"]


def test_a_preempted_job_runs_no_pods_on_its_last_nodes():
    again = job("n/m", model="m", ended=None, nodes={"x": 1}, preempted=1)
    assert model_results([again])[0].run == 0


def test_models_of_two_namespaces_are_different():
    names = [it.name for it in model_results([runs("n/m"), runs("o/m")])]
    assert names == ["n/m", "o/m"]


def test_a_model_that_is_new_or_loses_pods_differs():
    before = result(runs("n/m-0"), runs("n/m-1"), runs("n/same", model="same"))
    after = result(
        runs("n/m-0"),
        waiting("n/m-1", model="m"),
        runs("n/same", model="same"),
        runs("n/new", model="new"),
    )
    found = {it.name: it for it in model_changes(before, after)}
    assert (found["n/m"].pods, found["n/m"].run, found["n/m"].differs) == ((2, 2), (2, 1), True)
    assert (found["n/new"].pods, found["n/new"].differs) == ((0, 1), True)
    assert not found["n/same"].differs
