"""The tables of models."""

import io

from policygen.report.simulation_models import changed_models, models
from policygen.report.tables import TablePage
from policygen.simulate.model_results import SimulatedModelChange, model_results
from policygen.simulate.result import PoolResult
from tests.simulate.results import job, waiting


def written(write):
    out = io.StringIO()
    write(TablePage(out))
    return out.getvalue().splitlines()


def test_a_model_has_one_line_with_what_runs_where():
    runs = job(
        "n/m-0", model="m", ended=None, running=True, pods=2, pod_starts=((0.0, 2),),
        nodes={"x": 2}, flavors=("a100",), borrowed={"a100": 3},
    )  # fmt: skip
    found = model_results([runs, waiting("n/m-1", model="m", pods=2, never=True)])
    lines = written(
        lambda page: models(page, found, [PoolResult("a100", 32, 1, 0.0, 0.0, 8.0, 30)])
    )
    (line,) = (it for it in lines if it.startswith("n/m"))
    assert line.split(maxsplit=5) == ["n/m", "n", "2", "of", "4", line.split(maxsplit=5)[-1]]
    assert line.endswith("16  a100    x ×2   2 pods never start; borrows 3 a100")
    assert lines[-1] == "GPUs that stay free when most are in use: 2 of 32 in pool a100."


def test_other_units_than_gpus_are_named():
    found = model_results([job("n/m-0", model="m", unit="MIG instance", gpus=3)])
    pool = PoolResult("slices", 64, 1, 0.0, 0.0, 8.0, 3, unit="MIG instance")
    lines = written(lambda page: models(page, found, [pool]))
    assert any("3 MIG instances" in it for it in lines)
    assert lines[-1] == (
        "Units that stay free when most are in use: 61 of 64 MIG instances in pool slices."
    )


def test_without_models_nothing_is_written():
    assert (
        written(lambda page: models(page, [], [PoolResult("a100", 32, 1, 0.0, 0.0, 8.0, 30)])) == []
    )


def test_only_models_that_change_are_listed():
    changes = [
        SimulatedModelChange("n/m", (2, 3), (2, 1), (2, 3)),
        SimulatedModelChange("n/same", (2, 2), (2, 2), (2, 2)),
    ]
    lines = written(lambda page: changed_models(page, changes))
    assert lines[-1].split() == ["n/m", "2", "->", "3", "2", "->", "1", "2", "->", "3"]
    assert not any("same" in it for it in lines)
    assert written(lambda page: changed_models(page, changes[1:])) == []
