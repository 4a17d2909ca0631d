"""What differs between two simulations, as text."""

import csv
import io
import json
from math import inf

from msgspec.structs import replace

from policygen.report import simulation_changes, simulation_csv, simulation_json
from policygen.report.simulation import SimulationReport
from policygen.report.simulation_changes import changed
from policygen.report.tables import TablePage
from policygen.simulate.result import TeamUse
from policygen.simulate.state_facts import StateChange, StateFact
from policygen.simulate.why.causes import Cause, CauseKind
from tests.simulate.results import job, preempted_by, result, team, waiting

MISSING = Cause(CauseKind.QUEUE_MISSING, "LocalQueue n/l4", names=("a100",))


def report(*jobs, **more):
    return SimulationReport(result(*jobs, **more), (), 1)


def compared(before, after, **options):
    out = io.StringIO()
    page = TablePage(out, wide=options.pop("wide", None))
    simulation_changes.write((before, after), page, **options)
    return out.getvalue()


def test_a_comparison_begins_with_the_consequences():
    before = report(job("n/a"), job("m/x", team="m", waited=60.0), teams=(team("n"), team("m")))
    after = report(
        job("n/a", waited=7200.0, preempted=1, preemptions=preempted_by("m/x")),
        job("m/x", team="m"),
        teams=(
            team("n", waiting_median=7200.0, preempted=1, lost_gpu_seconds=3600.0),
            team("m", waiting_median=0.0),
        ),
    )
    lines = compared(before, after).splitlines()
    assert lines[:5] == [
        "On average, m waits 1m less and n waits 2h more.",
        "1 job waits longer and 1 shorter. n/a of n loses most: it waits 2h longer (2h instead of 0s).",
        "Preempted: n once (before: 0); 1.0 GPU hours more are lost.",
        "All jobs together get 1.0 GPU hours fewer of useful work.",
        "",
    ]
    assert lines[5] == "before: 2 jobs in 1h: 2 ended"
    (line,) = (it for it in lines if it.startswith("n/a"))
    assert line.split()[:7] == ["n/a", "n", "8", "0s", "2h", "+2h", "0"]
    assert line.endswith(" -> 1     1h  preempted by m/x")


def test_the_end_of_all_jobs_is_compared():
    before, after = (
        report(job("n/a", ended=3600.0)),
        report(job("n/a", ended=7200.0, waited=3600.0)),
    )
    lines = compared(before, after).splitlines()
    assert "waits 1h longer (1h instead of 0s) and ends 1h later." in lines[1]
    assert lines[2] == "The last job ends 1h later (2h after the start instead of 1h)."


def test_jobs_that_never_start_any_more_come_first_with_the_reason():
    them = [f"n/{it}" for it in "abcd"]
    before = report(*map(job, them))
    after = report(
        *(waiting(it, never=True, cause=MISSING) for it in them),
        teams=(team(waiting_median=inf, waiting_p95=inf, never=4),),
    )
    lines = compared(before, after).splitlines()
    assert lines[:2] == [
        "4 jobs of n never start after the change (n/a, n/b, n/c and 1 other): LocalQueue n/l4 does not exist.",
        "Other jobs wait as long as before.",
    ]
    (line,) = (it for it in lines if it.startswith("n/a "))
    assert line.split()[:7] == ["n/a", "n", "8", "0s", "never", "-", "0"]
    assert line.endswith("never starts after the change: LocalQueue n/l4 does not exist.")
    assert "0s -> never" in "".join(lines)


def test_jobs_that_start_only_after_the_change():
    before, after = report(waiting("n/a", never=True)), report(job("n/a"))
    text = compared(before, after)
    assert text.startswith("1 job starts only after the change: n/a.\nOther jobs wait as long")
    assert "starts only after the change\n" in text


def test_many_teams_are_counted():
    names = [f"t{i}" for i in range(6)]
    before = report(*(job(f"{it}/j", team=it) for it in names), teams=tuple(map(team, names)))
    after = report(
        *(job(f"{it}/j", team=it, waited=60.0 + i) for i, it in enumerate(names)),
        teams=tuple(map(team, names)),
    )
    assert compared(before, after).startswith(
        "On average, t5 waits 1m 5s more, t4 waits 1m 4s more, t3 waits 1m 3s more and 3 other teams wait more.\n"
    )


def test_a_comparison_without_changes():
    assert compared(report(job()), report(job())).startswith("All jobs wait as long as before.\n")


def test_a_changed_guarantee_is_shown():
    more = team(uses=(TeamUse("a100", 12, 16, 0.0, 8), TeamUse("l4", 4, 4, 0.0, 0)))
    assert "8 -> 12 a100, 0 -> 4 l4" in compared(report(job()), report(job(), teams=(more,)))


def test_the_last_row_is_that_of_all_teams():
    """Its median is that of all jobs, and its guarantees are sums. A single team has no such row."""
    uses = (TeamUse("a100", 8, 16, 0.0, 8), TeamUse("l4", 4, 4, 0.0, 0))
    teams = [team(name, uses=uses, preempted=2) for name in "nm"]
    jobs = [job(f"n/{i}", waited=waited) for i, waited in enumerate((0.0, 600.0, 1200.0))]
    before = report(*jobs, teams=teams)
    longer = (job(it.name, waited=it.waited + 300) for it in jobs)
    raised = team("n", uses=(TeamUse("a100", 12, 16, 0.0, 8),))
    after = report(*longer, waiting(never=True), teams=[raised, teams[1]])
    lines = compared(before, after).splitlines()
    (row,) = (it for it in lines if it.startswith("all teams "))
    assert lines[lines.index(row) - 1].startswith("n ")
    assert " +5m " in row
    assert "10m -> 20m" in row
    assert "4 -> 2" in row
    assert "16 -> 20 a100, 8 -> 4 l4" in row
    assert "all teams" not in compared(report(job()), report(job()))


def test_json_has_the_changes_of_all_teams():
    teams = [team(it, preempted=2, gpu_seconds=100.0) for it in "nm"]
    before = report(job(), job("m/b", team="m"), teams=teams)
    after = report(job(waited=60.0), job("m/b", team="m"), teams=[team("n"), teams[1]])
    out = io.StringIO()
    simulation_json.write_comparison((before, after), out)
    total = json.loads(out.getvalue())["total"]
    assert (total["waitingMean"], total["preempted"]) == (30.0, -2)
    assert total["waitingMedian"] == 30.0


def test_eighty_columns_are_enough():
    before = report(job("n/a", waited=90000.0))
    after = report(job("n/a", preempted=1, preemptions=preempted_by("m/" + "x" * 30)))
    lines = compared(before, after, wide=80).splitlines()
    assert max(map(len, lines)) <= 80


def test_jobs_that_end_earlier_although_they_wait_as_long():
    before = report(
        job("n/a", ended=9000.0, preempted=1, lost_gpu_seconds=9.0), teams=(team(preempted=1),)
    )
    after = report(job("n/a"))
    lines = compared(before, after).splitlines()
    assert lines[:2] == [
        "All jobs wait as long as before.",
        "1 job ends earlier, because of less work lost to preemptions: n/a.",
    ]
    (line,) = (it for it in lines if it.startswith("n/a"))
    assert line.endswith("1 -> 0  2h 30m -> 1h")


def test_a_team_whose_jobs_never_start_has_no_mean_wait():
    them = report(waiting(never=True), teams=(team(waiting_median=inf, never=1),))
    (line,) = (it for it in compared(them, them).splitlines() if it.startswith("n "))
    assert line.split()[1:3] == ["-", "never"]


def test_what_differs_between_the_states_comes_first():
    facts = {StateFact("pool a100", "nodes"): "4", StateFact("Cohort a", ""): "exists"}
    after = {StateFact("pool a100", "nodes"): "6", StateFact("Cohort b", ""): "exists"}
    lines = compared(
        replace(report(job()), facts=facts, lent="out has no nodes"),
        replace(report(job()), facts=after),
    ).splitlines()
    assert lines[:4] == [
        "note: out has no nodes",
        "",
        "Changed: pool a100 (nodes 4 -> 6); Cohort a (removed); Cohort b (new).",
        "All jobs wait as long as before.",
    ]


def test_many_objects_that_differ_are_counted():
    them = [StateChange(f"{kind} {i}", "", "", "exists") for kind in "abcdefg" for i in range(5)]
    text = changed(them)
    assert text.startswith("Changed: a 0, 1, 2 and 2 others (new); b 0")
    assert text.endswith("e 0, 1, 2 and 2 others (new); and 2 more.")


def test_without_a_change_it_says_what_was_compared():
    text = "No change of quotas, limits, weights, policies, nodes or priorities was found."
    assert changed([]) == text


def test_ties_are_named_in_each_format():
    them = report(job("n/a", either=True, ended=9000.0)), report(job("n/a"))
    text = compared(*them)
    assert "a tie: it can also come out differently" in text
    assert "chance decides about 1 job of these in one of the simulations" in text
    out = io.StringIO()
    simulation_json.write_comparison(them, out)
    assert [it["either"] for it in json.loads(out.getvalue())["jobs"]] == [True]
    out = io.StringIO()
    simulation_csv.write_comparison(them, out)
    (row,) = csv.DictReader(io.StringIO(out.getvalue()))
    assert (row["either_before"], row["either_after"]) == ("yes", "no")


def test_small_changes_are_counted_and_not_listed():
    """A retry of Kueue takes a second. The mean of a team hides one job that waits longer."""
    jobs = [job(f"n/{it}") for it in "abc"]
    before = report(*jobs)
    text = compared(before, report(jobs[0], *(job(f"n/{it}", waited=1.0) for it in "bc")))
    assert text.splitlines()[0] == "All jobs wait as long as before."
    assert "Jobs that change" not in text
    assert (
        "note: 2 other jobs wait or end a little earlier or later: less than a minute or 1 % of the "
        "time, which counts as equal; -f csv has the exact times"
    ) in text
    text = compared(before, report(*jobs[:2], job("n/c", waited=70.0)))
    assert text.splitlines()[:2] == [
        "On average, the jobs of each team wait as long as before, within a minute.",
        "1 job waits longer and 0 shorter. n/c of n loses most: it waits 1m 10s longer (1m 10s instead of 0s).",
    ]
