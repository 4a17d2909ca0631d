"""Pages of Markdown: blocks are apart, and text of the input is no markup."""

import io

import pytest

from policygen.core.finding import Finding
from policygen.lint.registry import RULES
from policygen.report import manifest_changes
from policygen.report.markdown import MAX_CHARACTERS
from policygen.report.markdown_page import MarkdownPage
from policygen.report.report import Report
from policygen.report.tables import BOLD, DIM


@pytest.fixture
def page():
    return MarkdownPage(io.StringIO())


def written(page):
    return page._out.getvalue()  # noqa: SLF001 - what the page has written


def test_blocks_are_apart_and_lists_are_not(page):
    page.line(("Yes", BOLD), ": it *runs*")
    page.line()
    page.heading("Why")
    page.line("each of these:", indent=2)
    page.line("1. more", indent=2)
    page.line(("cost", DIM), indent=5)
    page.table("Jobs", ("NAME", "GPUS", "NOTE"), [("a|b", "1", ""), ("c", "2", "")], (1,))
    assert written(page) == (
        "**Yes**\\: it \\*runs\\*\n\n### Why\n\n- each of these\\:\n1. more\n   - cost\n\n"
        "### Jobs\n\n| Name | GPUs |\n|---|---:|\n| a\\|b | 1 |\n| c | 2 |\n"
    )


def test_a_table_without_rows_is_not_written(page):
    page.table("T", ("A",), [])
    assert not written(page)


def test_blanks_are_not_strong(page):
    page.line(("Warning: ", BOLD), "x")
    assert written(page) == "**Warning\\:** x\n"


def test_code_cannot_end_its_block(page):
    page.code("a\n````\n\tb\x1b", "yaml")
    assert written(page) == "`````yaml\na\n````\n    b\\x1b\n`````\n"


def test_code_that_is_cut_ends(page):
    page.code(("x" * 1000 + "\n") * 100, "diff")
    assert written(page).endswith(
        "x\n```\n\nThe rest is too long for a comment; `-f text` and `-f json` have all of it\n"
    )


def test_findings_and_their_diff_fit_in_one_comment():
    rule = min(RULES, key=str)
    report = Report(tuple(Finding(rule, f"{number:0500}") for number in range(100)))
    out = io.StringIO()
    manifest_changes.markdown(report, out, command="patch", diff="+ x\n" * 20_000, lines=[])
    assert MAX_CHARACTERS < len(out.getvalue()) < MAX_CHARACTERS + 1000


def test_a_page_fits_in_a_comment(page):
    page.table("T", ("A",), [("x" * 1000,)] * 100)
    page.line("more")
    text = written(page)
    assert len(text) < MAX_CHARACTERS + 200
    assert text.endswith(
        "\nThe rest is too long for a comment; `-f text` and `-f json` have all of it\n"
    )
