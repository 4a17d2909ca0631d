"""Statistics of waiting times."""

from policygen.simulate.result import middle, p95


def test_the_95th_percentile_is_one_of_the_values():
    assert p95(range(1, 101)) == 95
    assert p95([3.0]) == 3
    assert p95([1, 2, 3]) == 3
    assert p95([]) == 0


def test_the_median():
    assert middle([1, 2, 10]) == 2
    assert middle([]) == 0
