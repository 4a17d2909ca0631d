"""Amounts in Kueue's units."""

from fractions import Fraction

import pytest

from policygen.simulate.kueue.amounts import UNLIMITED, counted, evaluation_order, shown


@pytest.mark.parametrize(
    ("resource", "amount", "units"),
    [
        ("cpu", Fraction(1, 2), 500),
        ("cpu", Fraction(1, 3000), 1),
        ("memory", Fraction(2**30), 2**30),
        ("nvidia.com/gpu", Fraction(3, 2), 2),
        ("cpu", Fraction(10**30), UNLIMITED),
    ],
)
def test_units_are_rounded_up(resource, amount, units):
    assert counted(resource, amount) == units


@pytest.mark.parametrize(
    ("resource", "units", "text"),
    [("cpu", 1500, "1500m"), ("cpu", 2000, "2"), ("memory", 2**31, "2Gi"), ("gpu", 4, "4"), ("gpu", UNLIMITED, "<unlimited>")],
)  # fmt: skip
def test_messages(resource, units, text):
    assert shown(resource, units) == text


def test_the_order_is_that_of_the_fnv_1a_hash():
    """The hash of "a" with 64 bits is published: 0xaf63dc4c8601ec8c."""
    assert evaluation_order("a")[0] == 0xAF63DC4C8601EC8C
    names = ["cpu", "memory", "nvidia.com/gpu"]
    assert sorted(names, key=evaluation_order) == ["memory", "nvidia.com/gpu", "cpu"]
