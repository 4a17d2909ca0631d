"""The simulator and Volcano's scheduler decide the same in drawn sessions."""

from collections import Counter

from .volcano_sessions import compared


def test_the_simulator_decides_as_volcanos_scheduler():
    seen: Counter[str] = Counter()
    assert list(compared(0, 45, seen)) == []
    assert seen["Binding"] > 500
    assert seen["Releasing"] > 10
