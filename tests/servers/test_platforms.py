"""A drawn platform on the real servers ends as the simulation says. `platforms.py` plays large ones."""

from .platforms import PlatformRun, drawn


def test_a_platform_ends_as_simulated(cluster):
    found = PlatformRun(cluster, drawn(1, events=(15, 15)), quiet_s=2.5).play()
    assert not found.differences
    assert found.compared == 2
