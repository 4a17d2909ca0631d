"""Commands of GitHub Actions: one for each finding, all escaped."""

import re

import pytest

from policygen.report.text import printable
from tests.report.reports import NASTY, report, written


@pytest.mark.parametrize("text", ["queue a", NASTY])
def test_github_gets_one_command_for_each_finding(text):
    lines = written("github", report(text)).split("\n")
    assert lines.pop() == ""
    assert [re.match("::[a-z]+ ", line)[0] for line in lines] == [
        "::notice ",
        "::error ",
        "::warning ",
    ]
    properties, _, message = lines[1].removeprefix("::error ").partition("::")
    told = dict(part.split("=") for part in properties.split(","))
    plain = told["file"]
    for escape, char in {"%3A": ":", "%2C": ",", "%25": "%"}.items():
        plain, message = plain.replace(escape, char), message.replace(escape, char)
    assert plain == f"{printable(text)}.yaml"
    assert message == f"wrong: {printable(text)}"
    assert (told["line"], told["col"], told["endColumn"], told["title"]) == (
        "3",
        "5",
        "9",
        "first-rule",
    )
