"""Amounts in messages have human units, and two different amounts never look equal."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policygen.core.amounts import (
    amount_of,
    at_most,
    exceeds,
    has_unit,
    readable,
    summed,
    with_gpus,
    written,
)

GIB = 2**30


@pytest.mark.parametrize(
    ("resource", "amount", "text"),
    [
        ("memory", 103395748 * 2**20, "98.6 TiB of memory"),
        ("memory", Fraction(5, 4) * GIB, "1.25 GiB of memory"),
        ("memory", 3000 * GIB, "2.93 TiB of memory"),
        ("memory", 512 * GIB, "512 GiB of memory"),
        ("memory", 9 * GIB + GIB // 3, "9.33 GiB of memory"),
        ("memory", 10 * GIB + GIB // 3, "10.3 GiB of memory"),
        ("memory", 64, "64 bytes of memory"),
        ("memory", 1, "1 byte of memory"),
        ("memory", 0, "0 bytes of memory"),
        ("ephemeral-storage", -GIB, "-1 GiB of ephemeral-storage"),
        ("storage", 2 * GIB, "2 GiB of storage"),
        ("hugepages-2Mi", 4 * 2**20, "4 MiB of hugepages-2Mi"),
        ("cpu", Fraction("191.45"), "191.45 cores"),
        ("cpu", 1, "1 core"),
        ("cpu", Fraction(1, 3), "0.33 cores"),
        ("cpu", Fraction(1, 10**6), "1u cores"),
        ("nvidia.com/gpu", 5000, "5000 nvidia.com/gpu"),
        ("nvidia.com/gpu", Fraction(1, 2), "0.5 nvidia.com/gpu"),
        ("requests.memory", 2 * GIB, "2 GiB requests.memory"),
    ],
)
def test_people_read_it(resource, amount, text):
    assert amount_of(resource, Fraction(amount)) == text


def test_gpus_have_no_name():
    found = [
        with_gpus(it, Fraction(n))
        for it, n in (("nvidia.com/gpu", 1), ("amd.com/gpu", 16), ("cpu", 2))
    ]
    assert found == ["1 GPU", "16 GPUs", "2 cores"]


def test_two_amounts_that_differ_look_different():
    one, other = Fraction(98 * 2**40), Fraction(98 * 2**40 - 2**20)
    assert readable("memory", one) == readable("memory", other) == "98 TiB"
    assert readable("memory", one, other) == "98Ti"
    assert readable("memory", other, one) == "102760447Mi"
    assert readable("memory", one, one) == "98 TiB"


@pytest.mark.parametrize(
    ("resource", "known"),
    [
        ("cpu", True),
        ("limits.cpu", True),
        ("memory", True),
        ("requests.ephemeral-storage", True),
        ("requests.storage", True),
        ("requests.hugepages-2Mi", True),
        ("nvidia.com/gpu", False),
        ("volcano.sh/vgpu-memory", False),
        ("high-memory", False),
    ],
)
def test_only_cores_and_bytes_have_a_unit(resource, known):
    assert has_unit(resource) is known


def test_manifests_have_the_exact_quantity():
    assert written("memory", Fraction(103395748 * 2**20)) == "103395748Mi"
    assert written("cpu", Fraction("191.45")) == "191450m"


def test_the_largest_amount_to_write_is_never_rounded_up():
    mebi = Fraction(2**20)
    assert at_most("cpu", Fraction("191.45")) == "191.45 cores"
    assert at_most("cpu", Fraction("191.4567")) == "191456m of cpu"
    assert at_most("memory", 1130891 * mebi) == "1130891Mi of memory"
    assert at_most("memory", 512 * 1024 * mebi) == "512 GiB of memory"
    assert at_most("memory", 1130891 * mebi + 7) == "1130891Mi of memory"
    assert at_most("nvidia.com/gpu", Fraction(8)) == "8 nvidia.com/gpu"


AMOUNTS = st.fractions(-9, 9, max_denominator=4)


@given(AMOUNTS, AMOUNTS, st.integers(0, 5))
def test_amounts_are_compared_as_fractions_are(amount, limit, times):
    assert exceeds(amount, limit, times) is (amount * times > limit)


@given(st.lists(AMOUNTS))
def test_amounts_are_added_as_fractions_are(amounts):
    assert summed(iter(amounts)) == sum(amounts)
