"""Amounts of a pool: divided by weight, and in the form in which servers return them."""

import pytest

from policygen.plan.amounts import amount_of, apportion, less, readable_bytes, text, total


@pytest.mark.parametrize(
    "case, shares",
    [
        ((10, [1, 1, 1], [0, 0, 0], [10, 10, 10]), [4, 3, 3]),
        ((10, [2, 1], [0, 0], [10, 10]), [7, 3]),
        ((10, [1, 1], [8, 0], [10, 10]), [8, 2]),
        ((10, [1, 1, 2], [0, 0, 0], [1, 10, 10]), [1, 3, 6]),
        ((10, [1, 1], [0, 0], [2, 3]), [2, 3]),
        ((5, [1, 1], [3, 3], [9, 9]), None),
        ((0, [], [], []), []),
    ],
)
def test_apportion_by_hand(case, shares):
    assert apportion(*case) == shares


@pytest.mark.parametrize(
    ("resource", "amount", "written"),
    [
        ("cpu", 1500, "1500m"),
        ("cpu", 2000, "2"),
        ("memory", 2**30, "1Gi"),
        ("memory", 1536 * 2**20, "1536Mi"),
        ("memory", 1001, "1001"),
        ("nvidia.com/gpu", 1000, "1k"),
        ("nvidia.com/gpu", 8, "8"),
    ],
)
def test_an_amount_is_a_canonical_quantity(resource, amount, written):
    assert text(resource, amount) == written


def test_amounts_for_people():
    assert amount_of("cpu", 191450) == "191.45 cores"
    assert amount_of("memory", 98 * 2**40, 98 * 2**40 - 2**20) == "98Ti of memory"
    assert readable_bytes(98 * 2**40) == "98 TiB"
    assert readable_bytes(98 * 2**40, 98 * 2**40 - 2**20) == "98Ti"


def test_vectors():
    assert less({"cpu": 5, "gpu": 2}, {"cpu": 3, "memory": 9}) == {"cpu": 2, "gpu": 2}
    assert total(["cpu"], [{"cpu": 1, "gpu": 2}, {"cpu": 3, "gpu": 4}]) == {"cpu": 4}
