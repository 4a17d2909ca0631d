"""Reads policygen's own form of traces."""

from fractions import Fraction
from pathlib import Path

import pytest

from policygen.core.errors import InvalidInputError
from policygen.simulate.traces.own_csv import COLUMNS, jobs
from policygen.simulate.traces.table import TraceFaults

DOCS = Path(__file__).parents[3] / "docs" / "traces.md"


def read(*lines, default=None):
    faults = TraceFaults("t.csv")
    found = list(jobs((f"{it}\n" for it in lines), faults, default))
    faults.check()
    return found


def faults(*lines):
    with pytest.raises(InvalidInputError) as caught:
        read(*lines)
    return list(caught.value.details)


def test_a_minimal_trace():
    (it,) = read("time,duration,team", "5m,1h,nlp")
    assert (it.name, it.at, it.duration, it.team, it.queue) == ("job-2", 300, 3600, "nlp", "")
    assert (it.request.pods, it.request.gpus, it.request.gang) == (1, 0, True)


def test_all_columns():
    (it,) = read(
        "time,duration,queue,pods,gpus,cpu,memory,priority,gang,selector,name",
        "0,60,nlp/main,2,8,500m,16Gi,urgent,no,zone=a gpu=h100,train",
    )
    assert (it.name, it.team, it.queue) == ("train", "", "nlp/main")
    request = it.request
    assert (request.pods, request.gpus) == (2, 8)
    assert (request.cpu, request.memory) == (Fraction(1, 2), 16 << 30)
    assert (request.priority, request.gang) == ("urgent", False)
    assert request.selector == (("gpu", "h100"), ("zone", "a"))


def test_dates_count_from_the_first_row():
    found = read("time,duration,team", "2026-01-31T09:30:00Z,1,a", "2026-01-31 10:00,1,a")
    assert [it.at for it in found] == [0, 1800]


def test_equal_requests_are_one_object():
    first, second = read("time,duration,team,gpus", "0,1,a,8", "1,2,b,8")
    assert first.request is second.request


def test_a_default_duration_replaces_missing_ones():
    found = read("time,team,duration", "0,a,", "1,a,5", default=60.0)
    assert [it.duration for it in found] == [60, 5]
    assert read("time,team", "0,a", default=7.0)[0].duration == 7


def test_all_faults_of_a_file_come_at_once():
    remedy = "write for example 90, 90s, 1h30m or 7d"
    assert faults(
        "time,duration,team,gpus,memory,gang,selector",
        "9,-1,,x,1Gx,maybe,gpu",
        "10,60,a,1,-1,,",
        "3,60,a,1,,,",
        "2026-01-31,60,a,1,,,",
    ) == [
        f't.csv:2:3: duration "-1" is negative; {remedy}',
        "t.csv:2:6: team is missing; write a team",
        't.csv:2:7: gpus "x" is not valid; write a whole number that is at least 0',
        (
            't.csv:2:9: memory "1Gx" is not a valid quantity; write a number with at most one suffix '
            "(m k M G T P E or Ki Mi Gi Ti Pi Ei), such as 500m or 80Gi"
        ),
        't.csv:2:13: gang "maybe" is not valid; write yes or no',
        't.csv:2:19: selector "gpu" is not valid; write KEY=VALUE KEY=VALUE',
        't.csv:3:11: memory "-1" is negative; write a quantity such as 16Gi',
        (
            't.csv:4:1: time "3" is before that of an earlier row; write the rows in the order of time; '
            "line 3 is later"
        ),
        "t.csv:5:1: time has another form than the first row; write seconds or a duration",
    ]


def test_a_job_has_at_most_a_million_pods():
    assert faults("time,duration,team,pods", "0,1,a,1000001", "0,1,a,1000000") == [
        't.csv:2:7: pods "1000001" is too large; write at most 1,000,000'
    ]


def test_a_name_is_used_once():
    assert faults("time,duration,team,name", "0,1,a,x", "1,1,a,x") == [
        't.csv:3:7: name "x" is used by an earlier row; write another name'
    ]


def test_a_trace_names_teams_or_queues():
    assert faults("time,duration", "0,1") == [
        "t.csv:1:1: the header has no column team; write at least time,duration,team"
    ]


def test_the_documentation_describes_all_columns():
    rows = [f"| `{it.name}` | {it.type} | {it.default} | {it.about} |" for it in COLUMNS]
    table = "\n".join(rows)
    assert table in DOCS.read_text("utf-8"), f"write this table to docs/traces.md:\n{table}"


def test_the_example_of_the_documentation_is_valid():
    text = DOCS.read_text("utf-8")
    found = read(*text.partition("```csv\n")[2].partition("```")[0].splitlines())
    assert [it.team for it in found] == ["language", "vision", "vision"]
