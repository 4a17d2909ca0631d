"""An explanation fits on a screen, and shows the differences between the examples."""

import pytest

from policygen.app import explain
from policygen.lint.page import page
from policygen.lint.registry import RULES
from policygen.report.explanation import MAX_COLUMNS, MAX_LINES


@pytest.mark.parametrize("name", explain.names())
def test_an_explanation_fits_a_screen(name):
    lines = explain.explain(name).splitlines()
    assert len(lines) <= MAX_LINES
    assert [line for line in lines if len(line) > MAX_COLUMNS] == []


@pytest.mark.parametrize("full", [False, True])
def test_an_explanation_fits_a_narrow_terminal(full):
    """Only lines without a blank, such as paths, are wider."""
    for rule in RULES:
        shown = explain.explain(rule.name, full=full, wide=60)
        assert [it for it in shown.splitlines() if len(it) > 60 and " " in it.strip(" -")] == []
        if not full:
            assert len(shown.splitlines()) <= MAX_LINES


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_an_explanation_shows_what_differs(rule):
    lines = explain.explain(rule.name).splitlines()
    assert any(line.startswith(("  - ", "  + ")) for line in lines)
    example = page(rule.name)
    removed = [line[4:] for line in lines if line.startswith("  - ")]
    text = f"checked with `policygen lint {' '.join(example.bad.options)}`\n{example.bad.text}"
    assert [line for line in removed if line.removesuffix("...") not in text] == []
