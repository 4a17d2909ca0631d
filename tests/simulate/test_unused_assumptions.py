"""Assumptions that change nothing are named."""

from policygen.simulate.scene_jobs import arrivals
from policygen.simulate.unused_assumptions import unused_assumptions
from tests.simulate.scenes import NODES, job
from tests.simulate.test_assumptions import CHECKED, assuming, gated


def test_names_of_the_input_are_used():
    it = assuming(CHECKED + NODES + gated("a", 1), "check/c=Ready", "gate/example.com/data=1s")
    assert list(unused_assumptions(it, arrivals(it))) == []


def test_other_names_are_reported_with_a_similar_one():
    it = assuming(
        CHECKED + NODES + gated("a", 1) + job("b", 1), "check/cc=Ready", "gate/example.com/date=1s"
    )
    first, second = unused_assumptions(it, arrivals(it))
    assert "no ClusterQueue has this admission check" in first
    assert "did you mean" in second
    assert "example.com/data" in second
