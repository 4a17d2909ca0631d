"""The simulator and Volcano's scheduler decide the same in drawn sessions."""

from collections import Counter

import pytest

from .volcano_sessions import Real, compared
from .why_gangs import LENDING, Drawn, Gang, Played, node, queue


def test_the_simulator_decides_as_volcanos_scheduler():
    seen: Counter[str] = Counter()
    assert list(compared(0, 45, seen)) == []
    assert seen["Binding"] > 500
    assert seen["Releasing"] > 10


@pytest.mark.parametrize(
    ("pods", "gpus", "deserved", "starts"),
    [(1, 8, 8, True), (2, 4, 8, False), (2, 4, 16, True), (2, 8, 16, True), (4, 4, 16, False)],
)
def test_a_gang_reclaims_one_pod_for_each_of_its_pods(pods, gpus, deserved, starts):
    """Pods with 8 GPUs hold three nodes. A second pod with 4 GPUs finds no pod to evict on the node that is freed."""
    holders = [Gang(f"h{i}", "r", 1, 8) for i in range(3)]
    queues = [queue("q", 24, deserved), queue("r", 24, 24 - deserved)]
    target = Gang("target", "q", pods, gpus)
    drawn = Drawn((), [node(f"n{i}", 8) for i in range(3)], queues, target, holders, LENDING)
    real = Real()
    try:
        played = Played(real, drawn)
        for it in holders:
            played.submit(it.object)
        played.sessions()
        played.submit(target.object)
        played.sessions()
    finally:
        real.close()
    assert played.started("target") is starts
