"""The simulator and Kueue's scheduler decide the same in drawn scenarios."""

import pytest

from .kueue_scheduler import compared


@pytest.mark.parametrize(
    ("fair", "ties", "count"),
    [(False, False, 500), (True, False, 200), (False, True, 200), (True, True, 100)],
)
def test_the_simulator_decides_as_kueue(fair, ties, count):
    assert list(compared(0, count, fair=fair, ties=ties)) == []
