"""The simulator and Kueue's scheduler decide the same in drawn scenarios."""

import pytest

from .kueue_scheduler import compared


@pytest.mark.parametrize(("fair", "count"), [(False, 700), (True, 300)])
def test_the_simulator_decides_as_kueue(fair, count):
    assert list(compared(0, count, fair=fair)) == []
