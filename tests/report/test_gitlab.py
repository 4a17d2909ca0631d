"""GitLab's code quality report has all fields that its widget needs."""

import json

import pytest

from tests.report.reports import NASTY, report, written


@pytest.mark.parametrize("text", ["queue a", NASTY])
def test_gitlab_has_what_its_widget_needs(text):
    data = json.loads(written("gitlab", report(text)))
    assert len({each["fingerprint"] for each in data}) == 3
    for each in data:
        assert set(each) == {"description", "check_name", "fingerprint", "severity", "location"}
        assert each["severity"] in {"info", "minor", "major", "critical", "blocker"}
        assert each["location"]["path"]
        assert each["location"]["lines"]["begin"] >= 1
