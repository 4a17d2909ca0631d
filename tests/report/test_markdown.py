"""The Markdown report is a table of plain text."""

import re

import pytest
from markdown_it import MarkdownIt

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
