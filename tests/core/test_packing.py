"""Packing is compared with all ways to put items into bins."""

from fractions import Fraction
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from policygen.core.packing import Bins, PackedItem, least_bins, packs

BOTH, SMALL, LARGE = frozenset("ab"), frozenset("a"), frozenset("b")


def fits(items, bins):
    """Whether some assignment of items to single bins exceeds no bin."""
    single = [(it.kind, it.amounts) for it in bins for _ in range(it.count)]
    pieces = [it for it, count in items.items() for _ in range(count)]
    choices = [[i for i, (kind, _) in enumerate(single) if kind in it.bins] for it in pieces]
    for chosen in product(*choices):
        left = [[*amounts] for _, amounts in single]
        for it, i in zip(pieces, chosen, strict=True):
            left[i] = [have - need for have, need in zip(left[i], it.amounts, strict=True)]
        if all(amount >= 0 for each in left for amount in each):
            return True
    return False


@st.composite
def drawn(draw):
    resources = draw(st.integers(1, 3))
    amounts = st.tuples(st.integers(1, 8), *[st.integers(0, 8)] * (resources - 1))
    items = st.builds(PackedItem, amounts, st.sampled_from([BOTH, SMALL, LARGE]))
    counts = draw(st.dictionaries(items, st.integers(1, 3), max_size=4))
    while sum(counts.values()) > 5:
        counts.popitem()
    size = st.tuples(*[st.integers(4, 9)] * resources)
    return counts, [Bins(kind, draw(size), draw(st.integers(0, 2))) for kind in "ab"]


@settings(max_examples=150, deadline=None)
@given(drawn())
def test_packs_equals_the_trial_of_all_ways(case):
    assert packs(*case) == fits(*case)


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.integers(1, 8), st.integers(1, 2), min_size=1, max_size=3))
def test_least_bins_is_a_lower_bound(amounts):
    needed = least_bins({Fraction(it): count for it, count in amounts.items()}, Fraction(8))
    items = {PackedItem((it,), SMALL): count for it, count in amounts.items()}
    assert not fits(items, [Bins("a", (8,), needed - 1)])


def one(*amounts):
    return PackedItem(amounts, BOTH)


def test_bins_that_no_bound_excludes():
    """The sums are small enough, and no item is above half a bin."""
    assert packs({one(4): 3, one(3): 6}, [Bins("a", (10,), 3)]) is True
    assert packs({one(3): 5}, [Bins("a", (8,), 2)]) is False
    # Each resource alone is enough, both together are not.
    assert packs({one(4, 1): 2, one(1, 4): 2, one(3, 3): 1}, [Bins("a", (6, 6), 2)]) is False


def test_many_bins():
    """Bounds and the first trial decide about thousands of bins."""
    nodes = [Bins("a", (8, 96), 5_000)]
    pods = {one(5, 12): 2_000, one(3, 80): 3_000, one(8, 96): 0}
    assert packs(pods, nodes) is True
    assert packs({one(5, 12): 4_000, one(4, 48): 2_001}, nodes) is False


def test_a_search_that_takes_too_long_is_unknown():
    pods = {one(17 + i, 31 - i): 6 for i in range(12)}
    assert packs(pods, [Bins("a", (100, 97), 18)]) in {None, False}
    assert packs(pods, [Bins("a", (100, 97), 401)]) is True
