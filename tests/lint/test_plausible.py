"""Typical mistakes: each is reported once, at its position; correct files have no findings.

The first line of a bad file has the line and rule of its only finding.
"""

from datetime import date
from pathlib import Path

import pytest

from policygen.app import lint
from policygen.app.requests import LintRequest

TODAY = date(2026, 11, 21)
FILES = Path(__file__).parent / "plausible"


def found(file):
    report = lint.lint(LintRequest(manifests=(str(file),), partial=True), today=TODAY)
    return [f"{it.place.line} {it.rule.name}" for it in report.findings]


@pytest.mark.parametrize("file", sorted((FILES / "bad").iterdir()), ids=lambda it: it.stem)
def test_a_mistake_is_reported_once_at_its_position(file):
    line = file.read_text("utf-8").partition("\n")[0]
    assert found(file) == [line.removeprefix("# ")]


@pytest.mark.parametrize("file", sorted((FILES / "good").iterdir()), ids=lambda it: it.stem)
def test_a_correct_file_has_no_findings(file):
    assert found(file) == []
