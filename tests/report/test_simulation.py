"""Reports of simulations: text, JSON and CSV."""

import csv
import io
import json
from math import inf

import jsonschema

from policygen.report import simulation, simulation_csv, simulation_json
from policygen.report.simulation import SimulationReport, gpu_hours
from policygen.report.tables import TablePage
from policygen.simulate.result import TeamUse, Unmodelled
from tests.report.reports import NASTY
from tests.simulate.results import CAUSE, job, preempted_by, result, team, waiting
from tests.test_support import ROOT

SCHEMA = json.loads((ROOT / "schemas" / "simulation.schema.json").read_text("utf-8"))
BUSY = job(
    "n/busy",
    flavors=("a100",),
    borrowed={"a100": 4},
    nodes={"n0": 1, "n1": 2, "n2": 1, "n3": 1},
    preempted=2,
    preemptions=preempted_by("m/x", "m/y", "m/z"),
    preempts=("m/x",),
    lost=90.0,
    either=True,
)


def report(*jobs, notes=(), **more):
    return SimulationReport(result(*jobs, **more), notes, 1)


def page(module, it, **options):
    out = io.StringIO()
    style = {name: options.pop(name) for name in ("wide", "colour") if name in options}
    to = TablePage(out, **style) if module is simulation else out
    module.write(it, to, **options)
    return out.getvalue()


def test_gpu_hours():
    assert gpu_hours(3600 * 1234.56) == "1,234.6"


def test_text_begins_with_the_sum_and_the_jobs_that_wait():
    lines = page(simulation, report(BUSY, waiting())).splitlines()
    assert lines[0] == "2 jobs in 1h: 1 ended and 1 still waits"
    assert lines[2:5] == [
        "Jobs that still wait",
        "n/w (n, 8 GPUs): Workload n/w is deactivated: its field active is false.",
        "    Pending: no quota",
    ]
    (line,) = (it for it in lines if it.startswith("n/w  "))
    assert line.split() == ["n/w", "n", "8", "0s", "-", "1h+", "-", "-", "-"]


def test_jobs_that_never_start_are_apart_from_those_that_wait():
    it = report(
        BUSY, waiting(), waiting("n/x", never=True), waiting("n/y", never=True), later=("n/z",)
    )
    lines = page(simulation, it).splitlines()
    assert lines[0] == "4 jobs in 1h: 1 ended, 1 still waits and 2 never start"
    assert lines[2:4] == [
        "Jobs that never start",
        "n/x (n, 8 GPUs): Workload n/w is deactivated: its field active is false.",
    ]
    assert "1 job arrives after the end: n/z" in lines
    (line,) = (it for it in lines if it.startswith("n/x  "))
    assert line.split()[5] == "never"


def test_jobs_that_never_start_again_are_named_so():
    text = page(simulation, report(job(ended=None, cause=CAUSE, never=True)))
    assert "n/a (n, 8 GPUs, after a preemption): Workload n/w" in text


def test_a_team_whose_jobs_never_start_waits_for_ever():
    it = report(waiting(never=True), teams=(team(waiting_median=inf, waiting_p95=inf, never=1),))
    (line,) = (
        it for it in page(simulation, it).splitlines() if it.startswith("n  ") and "never" in it
    )
    assert line.split()[:6] == ["n", "1", "1", "1", "never", "never"]
    data = json.loads(page(simulation_json, it))
    assert (data["teams"][0]["waitingMedian"], data["teams"][0]["neverStart"]) == (None, 1)
    assert data["jobs"][0]["state"] == "never-starts"


def test_text_shows_what_happened_to_a_job():
    text = page(simulation, report(BUSY))
    assert "n0, n1 ×2, n2 and 1 other" in text
    assert (
        "borrows 4 a100; preempts m/x; preempted 2 times by m/x, m/y and 1 other (1m 30s lost); a tie: it can "
        "also come out differently"
    ) in text


def test_text_names_why_kueue_evicted_a_job():
    by_check = job(evicted=1, evicted_for="AdmissionCheck")
    late = job(evicted=2, evicted_for="PodsReadyTimeout")
    assert "evicted once, because an admission check requested a retry" in page(
        simulation, report(by_check)
    )
    assert "evicted 2 times, because its pods were not ready in time" in page(
        simulation, report(late)
    )


def test_text_names_pods_that_start_later_or_never():
    few = job("n/a", pods=5, pod_starts=((0.0, 3),))
    late = job("n/b", pods=9, pod_starts=((600.0, 2), (1800.0, 3), (3600.0, 2), (7200.0, 2)))
    text = page(simulation, report(few, late))
    assert "runs with 3 of 5 pods" in text
    assert "2 of 9 pods started at 10m, 3 at 30m, 2 at 1h and 2 later" in text


def test_text_names_pods_that_were_preempted_without_their_job():
    some = job(preemptions=preempted_by("m/x"), lost_gpu_seconds=7200.0)
    assert "some pods preempted by m/x (2.0 GPU hours lost)" in page(simulation, report(some))


def test_a_job_whose_other_pods_never_start():
    it = waiting(started=0.0, pods=6, pod_starts=((0.0, 2),), never=True)
    assert "after 2 of its 6 pods have run" in page(simulation, report(it))


def test_text_shows_teams_and_pools():
    text = page(simulation, report(job()))
    assert "8.0 (50 %)" in text
    assert "quota: 2.0" in text
    team_, quota = (it for it in text.splitlines() if it.startswith("n  "))
    assert team_.split() == ["n", "1", "1", "0s", "0s", "8.0", "0.0"]
    assert quota.split() == ["n", "a100", "8", "16", "8.0", "8", "8.0"]


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


def compared(before, after, module):
    out = io.StringIO()
    module.write_comparison((before, after), out)
    return out.getvalue()


def test_json_of_anything_follows_the_schema():
    it = report(
        BUSY, waiting(NASTY, message=NASTY), notes=(NASTY,), unmodelled=(Unmodelled(NASTY, 1),)
    )
    jsonschema.validate(json.loads(page(simulation_json, it)), SCHEMA)
    both = json.loads(compared(it, report(BUSY), simulation_json))
    jsonschema.validate(both, SCHEMA)


def rows(write, *reports):
    out = io.StringIO()
    write(reports, out)
    return list(csv.DictReader(io.StringIO(out.getvalue())))


def test_csv_of_teams_has_a_line_for_each_pool():
    uses = (TeamUse("a100", 8, 16, 28800.0, 8), TeamUse("l4", 4, 4, 0.0, 0))
    it = report(job(), teams=(team(uses=uses, waiting_p95=inf), team("m", uses=())))
    found = rows(simulation_csv.write_teams, it)
    assert [(one["team"], one["pool"], one["guarantee"]) for one in found] == [
        ("n", "a100", "8"), ("n", "l4", "4"), ("m", "", ""),
    ]  # fmt: skip
    assert (found[0]["median_wait"], found[0]["p95_wait"], found[0]["partial"]) == (
        "0",
        "never",
        "no",
    )
    both = rows(simulation_csv.write_teams, it, report(job(), partial=True))
    assert [(one["simulation"], one["team"]) for one in both] == [
        ("before", "n"), ("before", "n"), ("before", "m"), ("before", "all teams"),
        ("after", "n"), ("after", "all teams"),
    ]  # fmt: skip
    assert (both[3]["jobs"], both[3]["gpu_seconds"], both[3]["pool"]) == ("2", "57600", "")
    assert both[-1]["partial"] == "yes"


def test_csv_of_pools_has_a_line_for_each_cause():
    (found,) = rows(simulation_csv.write_pools, report(job()))
    assert (found["pool"], found["mean_used"]) == ("a100", "8")
    assert (found["free_because"], found["free_gpu_seconds"]) == ("quota", "7200")


def undescribed(data, schema, path=""):
    """The fields of JSON that a schema does not describe."""
    if isinstance(data, list):
        for it in data:
            yield from undescribed(it, schema.get("items", {}), path)
    elif isinstance(data, dict):
        parts = [schema, *schema.get("allOf", ())]
        parts = [
            SCHEMA["$defs"][it["$ref"].rsplit("/", 1)[1]] if "$ref" in it else it for it in parts
        ]
        known = {key: it for part in parts for key, it in part.get("properties", {}).items()}
        for key, it in data.items() if known else ():
            if key not in known:
                yield f"{path}.{key}"
            else:
                yield from undescribed(it, known[key], f"{path}.{key}")


def test_the_schema_describes_all_fields():
    it = report(BUSY, waiting(), later=("n/z",), unmodelled=(Unmodelled("x", 1),))
    one = json.loads(page(simulation_json, it))
    assert [*undescribed(one, SCHEMA["$defs"]["single"])] == []
    both = json.loads(compared(it, report(BUSY, waiting(waited=1.0)), simulation_json))
    assert both["jobs"]
    assert [*undescribed(both, SCHEMA["$defs"]["comparison"])] == []
    assert [*undescribed({"jobs": [{"x": 1}]}, SCHEMA["$defs"]["single"])] == [".jobs.x"]


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
    assert (second["cause"], second["partial"]) == ("deactivated", "no")
    assert page(simulation_csv, report(BUSY, partial=True)).splitlines()[1].endswith(",yes")
    assert (second["started"], second["waited"]) == ("", "3600")
    (row,) = csv.DictReader(
        io.StringIO(compared(report(job()), report(job(waited=5)), simulation_csv))
    )
    assert (row["waited_before"], row["waited_after"]) == ("0", "5")


def test_a_wait_after_a_preemption_is_named():
    it = job(waited=5400.0, started=1800.0, preempted=1, preemptions=preempted_by("n/b"), lost=60.0)
    assert "preempted once by n/b (1m lost, waited again 1h)" in page(simulation, report(it))
