"""The fewest ends."""

import pytest

from policygen.simulate.why.ends import fewest

NAMES = ("a", "b", "c", "d", "e", "f", "g")


@pytest.mark.parametrize("needed", range(1, 8))
def test_the_fewest_that_help(needed):
    tried = []

    def helps(names):
        tried.append(len(names))
        return len(names) >= needed

    assert fewest(NAMES, helps) == NAMES[:needed]
    assert len(tried) <= 6 + needed


def test_ends_that_do_not_matter_are_not_named():
    assert fewest(NAMES, lambda it: "c" in it) == ("c",)
    assert fewest(NAMES, lambda it: {"b", "e"} <= {*it}) == ("b", "e")


@pytest.mark.parametrize("needed", [{180}, {0, 180}, {3, 90, 199}, {199}])
def test_of_many_ends_those_that_do_not_matter_are_dropped_in_parts(needed):
    """Trying each of 200 alone takes too long."""
    names, tried = tuple(f"n{i}" for i in range(200)), []

    def helps(gone):
        tried.append(gone)
        return {f"n{i}" for i in needed} <= {*gone}

    assert fewest(names, helps) == tuple(f"n{i}" for i in sorted(needed))
    assert len(tried) <= 80


def test_many_ends_that_are_all_needed_stay():
    names, tried = tuple(f"n{i}" for i in range(200)), []

    def helps(gone):
        tried.append(gone)
        return len(gone) == len(names)

    assert fewest(names, helps) == names
    assert len(tried) <= 50


def test_a_further_end_can_undo_what_helps():
    assert fewest(NAMES, lambda it: len(it) in (2, 3)) == NAMES[:2]


def test_no_end_helps():
    assert fewest(NAMES, lambda _: False) == ()
    assert fewest((), lambda _: True) == ()
