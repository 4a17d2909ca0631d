"""Amounts of a LimitRange that its API server refuses."""

from policygen.core.finding import At
from policygen.lint.core.limit_range_amounts import faults, refused_ranges
from tests.objects import cluster

RANGE = """
apiVersion: v1
kind: LimitRange
metadata: {name: a, namespace: n}
spec: {limits: [{type: Container, %s}]}
"""


def found(item):
    given = cluster(RANGE % item)
    [entry] = given.limit_ranges
    assert refused_ranges(given) == ({entry.at} if item else set())
    return [
        (it.at.path, it.message.rpartition("; ")[2]) for it in faults(entry.fields.limits[0], At(0))
    ]


def test_all_amounts_below_a_minimum_are_to_be_raised():
    item = "min: {cpu: 16}, defaultRequest: {cpu: 1}, default: {cpu: 2}, max: {cpu: 64}"
    assert found(item) == [(("min", "cpu"), "lower min or raise defaultRequest and default")]
    item = "min: {cpu: 1}, defaultRequest: {cpu: 4}, default: {cpu: 2}, max: {cpu: 64}"
    assert found(item) == [(("defaultRequest", "cpu"), "lower defaultRequest or raise default")]


def test_a_ratio_below_one_is_a_fault():
    assert found("maxLimitRequestRatio: {cpu: 0.5}") == [
        (("maxLimitRequestRatio", "cpu"), "write 1 or more")
    ]


def test_the_largest_ratio_is_that_of_max_and_min():
    item = "min: {cpu: 1}, max: {cpu: 2}, maxLimitRequestRatio: {cpu: 3}"
    assert found(item) == [(("maxLimitRequestRatio", "cpu"), "write 1 to 2")]
    item = "min: {cpu: 4}, max: {cpu: 2}, maxLimitRequestRatio: {cpu: 3}"
    assert found(item) == [(("min", "cpu"), "lower min or raise max")]
