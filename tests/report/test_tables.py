"""Lines and tables for terminals of any width."""

import io

import pytest

from policygen.report.tables import BOLD, TablePage, columns
from policygen.report.text import width

HEADS = "NAME", "GPUS", "NODES", "NOTES"
ROWS = [("a", "16", "n0, n1", "borrows 8 a100"), ("longer", "4", "-", "")]


def written(wide, *, colour=False):
    out = io.StringIO()
    page = TablePage(out, colour=colour, wide=wide)
    page.table("Jobs", HEADS, ROWS, (1,), {3: "", 2: "nodes "})
    return out.getvalue().splitlines()


def test_a_table_that_fits_has_all_columns():
    assert written(None) == written(200)
    assert written(None) == [
        "",
        "Jobs",
        "NAME    GPUS  NODES   NOTES",
        "a         16  n0, n1  borrows 8 a100",
        "longer     4  -",
    ]


def test_a_table_that_is_too_wide_moves_columns_below():
    out = io.StringIO()
    rows = [("x" * 30, "1", "n0", "borrows 8 a100")]
    TablePage(out, wide=44).table("", HEADS, rows, (1,), {3: "", 2: "nodes "})
    assert out.getvalue().splitlines()[3:] == [f"{'x' * 30}     1  n0", "    borrows 8 a100"]
    out = io.StringIO()
    TablePage(out, wide=40).table("", HEADS, rows, (1,), {3: "", 2: "nodes "})
    assert out.getvalue().splitlines()[2:] == [
        f"NAME{' ' * 28}GPUS",
        f"{'x' * 30}     1",
        "    nodes n0; borrows 8 a100",
    ]


def test_columns_without_text_are_omitted():
    out = io.StringIO()
    TablePage(out).table("T", ("A", "B", "C"), [("1", "", "2")])
    assert out.getvalue() == "\nT\nA  C\n1  2\n"


def test_a_table_without_rows_is_not_written():
    out = io.StringIO()
    TablePage(out).table("T", ("A",), [])
    assert not out.getvalue()


@pytest.mark.parametrize("wide", [1, 40, 60])
def test_lines_are_wrapped_at_blanks(wide):
    out = io.StringIO()
    words = "word " * 30
    TablePage(out, wide=wide).line(words, indent=4)
    lines = out.getvalue().splitlines()
    assert all(width(it) <= max(wide, 40) for it in lines)
    assert [it[:9] for it in lines[:2]] == ["    word ", "      wor"]
    assert " ".join(" ".join(lines).split()) == words.strip()


def test_a_hue_ends_where_its_text_ends():
    out = io.StringIO()
    page = TablePage(out, colour=True, wide=40)
    page.line(("name", BOLD), ": " + "word " * 20)
    page.line(("title", BOLD))
    lines = out.getvalue().splitlines()
    assert lines[0].startswith(f"{BOLD}name\x1b[0m: word")
    assert "\x1b" not in "".join(lines[1:-1])
    assert lines[-1] == f"{BOLD}title\x1b[0m"


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_the_width_is_that_of_the_terminal_or_of_columns():
    assert columns(io.StringIO(), {}) is None
    assert columns(io.StringIO(), {"COLUMNS": "100"}) is None
    assert columns(Terminal(), {"COLUMNS": "100"}) == 100
    assert columns(Terminal(), {"COLUMNS": "wide"}) is None
