"""The simulator and Kueue's scheduler decide the same in drawn scenarios."""

import pytest

from .kueue_scheduler import compared


@pytest.mark.parametrize(
    ("kinds", "count"),
    [
        ({"fair": False}, 350),
        ({"fair": True}, 150),
        ({"fair": False, "ties": True}, 150),
        ({"fair": True, "ties": True}, 100),
        ({"fair": False, "events": True}, 150),
        ({"fair": False, "topology": True}, 100),
    ],
)
def test_the_simulator_decides_as_kueue(kinds, count):
    assert list(compared(0, count, **kinds)) == []
