"""When a case has passed."""

from policygen.testing.outcome import failed
from tests.testing.outcomes import BAD, CRASHED, GOOD


def test_a_difference_or_a_crash_fails_a_case():
    assert [it.passed for it in (GOOD, BAD, CRASHED)] == [True, False, False]
    assert failed([GOOD, BAD, CRASHED]) == 2
    assert failed([]) == 0
