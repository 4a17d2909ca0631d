"""Ages of conditions."""

import pytest

from policygen.kubernetes.conditions import long, moment


@pytest.mark.parametrize(
    "earlier, words",
    [
        ("2026-11-21T02:59:00Z", "60s"),
        ("2026-11-21T01:30:00Z", "90m"),
        ("2026-11-20T01:00:00Z", "26h"),
        ("2026-11-18T01:00:00.5Z", "3d"),
    ],
)
def test_ages_are_shown_in_the_largest_suitable_unit(earlier, words):
    assert long(moment("2026-11-21T03:00:00Z") - moment(earlier)) == words
