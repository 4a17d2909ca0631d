"""The Markdown report is a table of plain text."""

import re

import pytest
from markdown_it import MarkdownIt

from policygen.report.markdown import escaped
from tests.report.reports import NASTY, report, written


@pytest.mark.parametrize("text", ["queue a", NASTY])
def test_markdown_is_a_table_of_plain_text(text):
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(written("markdown", report(text)))
    assert sum(token.type == "tr_open" for token in tokens) == 3 + 3
    kinds = {child.type for token in tokens for child in token.children or ()}
    assert kinds <= {"text", "text_special"}


def test_markdown_has_no_links_and_no_formulas():
    out = written("markdown", report(NASTY))
    assert "www." not in out
    assert re.search(r"(?<!\\)\$", out) is None


def test_a_command_is_code():
    text = "apply order: `policygen render spec/ --steps-from git:main:s_p -o x/` and `--partial`"
    (tokens,) = (it.children for it in MarkdownIt().parse(escaped(text)) if it.children)
    code = [it.content for it in tokens if it.type == "code_inline"]
    assert code == ["policygen render spec/ --steps-from git:main:s_p -o x/", "--partial"]
    cell = MarkdownIt("gfm-like", {"linkify": False}).parse(
        f"| a | b |\n|---|---|\n| {escaped('`show a|b <c>`')} | c |\n"
    )
    assert sum(it.type == "td_open" for it in cell) == 2
    assert not any(
        child.type not in {"text_special", "text"} for it in cell for child in it.children or ()
    )
