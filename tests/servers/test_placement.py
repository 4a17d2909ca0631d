"""The simulator and kube-scheduler score nodes the same in drawn scenarios."""

from .placement import compared


def test_the_simulator_scores_as_kube_scheduler():
    assert list(compared(0, 200)) == []
