"""Reports of simulations: text, JSON and CSV."""

import csv
import io
import json

import jsonschema

from policygen.report import simulation, simulation_csv, simulation_json
from policygen.report.simulation import SimulationReport, gpu_hours
from policygen.simulate.result import Unmodelled
from tests.report.reports import NASTY
from tests.simulate.results import job, result, team, waiting
from tests.test_support import ROOT

SCHEMA = json.loads((ROOT / "schemas" / "simulation.schema.json").read_text("utf-8"))
BUSY = job(
    "n/busy",
    flavors=("a100",),
    borrowed={"a100": 4},
    nodes={"n0": 1, "n1": 2, "n2": 1, "n3": 1},
    preempted=2,
    preempted_by=("m/x", "m/y", "m/z"),
    preempts=("m/x",),
    lost=90.0,
    either=True,
)


def report(*jobs, notes=(), **more):
    return SimulationReport(result(*jobs, **more), notes, 1)


def page(module, it, **options):
    out = io.StringIO()
    module.write(it, out, **options)
    return out.getvalue()


def test_gpu_hours():
    assert gpu_hours(3600 * 1234.56) == "1,234.6"


def test_text_begins_with_the_sum_and_the_jobs_that_wait():
    lines = page(simulation, report(BUSY, waiting())).splitlines()
    assert lines[0] == "2 jobs in 1h: 1 ended, 0 run and 1 waits at the end"
    assert lines[2:4] == ["Jobs that wait at the end", "n/w (n, 8 GPUs): no quota"]


def test_text_shows_what_happened_to_a_job():
    text = page(simulation, report(BUSY))
    assert "n0, n1 ×2, n2, and 1 more" in text
    assert (
        "borrows 4 a100; preempts m/x; preempted 2 times by m/x, m/y and 1 more (1m 30s lost); a tie: it can "
        "also come out differently"
    ) in text


def test_text_shows_teams_and_pools():
    text = page(simulation, report(job()))
    assert "8.0 (50 %)" in text
    assert "quota: 2.0" in text
    (line,) = (it for it in text.splitlines() if it.startswith("n  "))
    assert line.split() == ["n", "1", "1", "0s", "0s", "8.0", "0.0", "a100", "8", "16", "8", "8.0"]


def test_text_names_what_is_not_modelled_and_notes():
    it = report(
        job(),
        notes=("nodes are not known",),
        unmodelled=(Unmodelled("racks", 2),),
        livelocks=(("n/a", "n/b"),),
        partial=True,
    )
    text = page(simulation, it)
    assert text.splitlines()[0].endswith("; interrupted, so the report is partial")
    assert text.splitlines()[-3:] == [
        "livelock: n/a, n/b preempt each other without end",
        "not modelled: racks (2 jobs)",
        "note: nodes are not known",
    ]


def test_text_shows_fifty_jobs_or_all():
    it = report(*(waiting(f"n/{i}") for i in range(60)))
    assert page(simulation, it).count("and 10 more jobs (--all shows all)") == 2
    assert "more jobs" not in page(simulation, it, every=True)


def test_colours_only_where_they_are_wanted():
    assert "\x1b" not in page(simulation, report(waiting()))
    assert "\x1b[1;33mn/w\x1b[0m" in page(simulation, report(waiting()), colour=True)


def compared(before, after, module=simulation):
    out = io.StringIO()
    module.write_comparison((before, after), out)
    return out.getvalue()


def test_a_comparison_begins_with_the_consequences():
    before = report(job("n/a"), teams=(team("n"), team("m")))
    after = report(
        job("n/a", waited=7200.0, preempted=1, preempted_by=("m/x",)),
        teams=(
            team("n", waiting_median=7200.0, preempted=1, lost_gpu_seconds=3600.0),
            team("m"),
        ),
    )
    lines = compared(before, after).splitlines()
    assert lines[3] == (
        "n: waits longer, 2h instead of 0s (median); 1 preemption instead of 0; 1.0 GPU hours fewer of "
        "useful work; 1.0 GPU hours more lost to preemptions"
    )
    assert not lines[4]
    (line,) = (it for it in lines if it.startswith("n/a"))
    assert line.split() == [
        "n/a",
        "n",
        "8",
        "0s",
        "2h",
        "+2h",
        "0",
        "->",
        "1",
        "preempted",
        "by",
        "m/x",
    ]


def test_a_comparison_without_changes():
    assert "Nothing changes for any team." in compared(report(job()), report(job()))


def test_json_of_anything_follows_the_schema():
    it = report(
        BUSY, waiting(NASTY, message=NASTY), notes=(NASTY,), unmodelled=(Unmodelled(NASTY, 1),)
    )
    jsonschema.validate(json.loads(page(simulation_json, it)), SCHEMA)
    both = json.loads(compared(it, report(BUSY), simulation_json))
    jsonschema.validate(both, SCHEMA)


def test_nothing_in_text_controls_a_terminal():
    it = report(waiting(NASTY, message=NASTY, team=NASTY), notes=(NASTY,))
    for char in page(simulation, it).replace("\n", ""):
        assert char.isprintable()


def test_csv_keeps_lines_and_disables_formulas():
    it = report(BUSY, waiting("=1+1", message=NASTY))
    text = page(simulation_csv, it)
    assert "\r" not in text
    first, second = csv.DictReader(io.StringIO(text))
    assert (first["borrowed"], first["preempted_by"]) == ("a100=4", "m/x m/y m/z")
    assert second["job"] == "'=1+1"
    assert (second["started"], second["waited"]) == ("", "3600")
    (row,) = csv.DictReader(
        io.StringIO(compared(report(job()), report(job(waited=5)), simulation_csv))
    )
    assert (row["waited_before"], row["waited_after"]) == ("0", "5")
