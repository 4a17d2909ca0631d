"""Reads rows of traces, and reports all faults at once."""

from io import StringIO

import pytest

from policygen.core.errors import InvalidInputError
from policygen.simulate.traces.table import TraceFaults, TraceTable


def table(*lines):
    return TraceTable(StringIO("".join(f"{it}\n" for it in lines)), TraceFaults("t.csv"))


def message(faults):
    with pytest.raises(InvalidInputError) as caught:
        faults.check()
    return [*caught.value.details, str(caught.value)]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_header_decides_the_delimiter(delimiter):
    it = table(delimiter.join(("\ufefftime", " Team ")), delimiter.join(("1", " a ")), "")
    (row,) = it.rows()
    assert it.check(("time", "team"), ("time", "team"))
    assert it.cell(row, "team") == "a"
    assert it.cell(row, "other") == ""


def test_a_row_with_too_few_cells_is_a_fault_of_the_row():
    it = table("time,team", "1", '"a\nb",2', '5,"')
    assert [row[0] for row in it.rows()] == ["a\nb"]
    first, second, _ = message(it.faults)
    assert first == (
        "t.csv:2:1: the row has 1 cell, but the header has 2; write one cell for each column"
    )
    assert second.startswith("t.csv:5:1: the row is not valid CSV: ")


def test_columns():
    it = table("team,duratoin,team")
    assert not it.check(("time", "duration"), ("time", "duration", "team"))
    assert message(it.faults) == [
        "t.csv:1:1: the header has no columns time, duration; write at least time,duration",
        't.csv:1:6: column "duratoin" is unknown; rename or remove it; did you mean "duration"?',
        "t.csv:1:15: column team is repeated; remove one",
        "3 faults in t.csv; nothing was simulated",
    ]


def test_an_empty_file():
    it = table()
    assert not it.check(("time", "duration"))
    assert message(it.faults)[0] == "t.csv:1:1: the first line is empty; write time,duration"


def test_equal_faults_are_counted_and_the_first_three_shown():
    it = table("time", *["-1"] * 2000)
    for row in it.rows():
        assert it.time(row, "time") is None
    found = message(it.faults)
    remedy = "write for example 90, 90s, 1h30m or 7d"
    assert found == [
        *(f't.csv:{line}:1: time "-1" is negative; {remedy}' for line in (2, 3, 4)),
        "t.csv: 1,997 more rows with this fault",
        "2,000 faults in t.csv; nothing was simulated",
    ]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("0", 0), ("1.5", 1.5), ("1e3", 1000), ("2h30m", 9000), ("90s", 90)],
)
def test_durations(text, seconds):
    it = table("x,d", f"1,{text}")
    (row,) = it.rows()
    assert it.duration(row, "d") == seconds
    it.faults.check()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "d is missing"),
        ("nan", 'd "nan" is not finite'),
        ("inf", 'd "inf" is not finite'),
        ("1e300", 'd "1e300" is too large'),
        ("-2h", 'd "-2h" is negative'),
        ("2 hours", 'd "2 hours" is not a valid duration'),
        ("1_000", 'd "1_000" is not a valid duration'),
        ("9" * 20 + "d", f'd "{"9" * 20}d" is not a valid duration'),
    ],
)
def test_invalid_durations(text, words):
    it = table("x,d", f"1,{text}")
    (row,) = it.rows()
    assert it.duration(row, "d") is None
    remedy = "write for example 90, 90s, 1h30m or 7d"
    assert message(it.faults)[0] == f"t.csv:2:3: {words}; {remedy}"


def test_a_missing_duration_can_have_a_default():
    it = table("x,d", "1,")
    (row,) = it.rows()
    assert it.duration(row, "d", 60.0) == 60
    it.faults.check()


def test_times():
    it = table("t", "7", "1970-01-01 00:01:00", "1970-01-01T01:01:00+01:00")
    assert [it.time(row, "t") for row in it.rows()] == [(7, False), (60, True), (60, True)]
    for text in ("", "2026-13-01"):
        bad = table("t,x", f"{text},1")
        (row,) = bad.rows()
        assert bad.time(row, "t") is None
        assert message(bad.faults)[0].startswith("t.csv:2:1: t ")


def test_whole_numbers():
    it = table("n")
    assert [it.number(text, "n", default=1) for text in ("", "8", "8.0")] == [1, 8, 8]
    it.faults.check()
    for text in ("-1", "1.5", "x", "²", "0", "9" * 5000):
        it.number(text, "n", least=1)
    assert len(it.faults) == 6
