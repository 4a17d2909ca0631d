"""Placement of MIG instances on the slots of cards, against brute force and by hand."""

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policygen.hardware import catalog, mig

FAMILIES = {
    name: catalog.mig_family(product) for name, product in catalog.products().items() if product.mig
}


def allowed(family, chosen):
    """Whether instances have enough of everything but slots, counted one by one."""
    profiles = [family.profiles[name] for name in chosen]
    engines = [engine for it in profiles for engine, number in it.engines for _ in range(number)]
    return (
        sum(it.compute_slices for it in profiles) <= family.compute_slices
        and all(engines.count(engine) <= has for engine, has in family.engines)
        and all(chosen.count(it.name) <= it.max_per_gpu for it in profiles)
    )


@cache
def card(product, names):
    """The counts of every set of instances of one card, by trying every start."""
    family = FAMILIES[product]
    places = [(name, start) for name in names for start in family.profiles[name].starts]
    reached = {(frozenset(), ())}
    for name, start in places:
        slots = frozenset(range(start, start + family.profiles[name].memory_slices))
        reached |= {
            (used | slots, (*chosen, name))
            for used, chosen in reached
            if not used & slots and allowed(family, (*chosen, name))
        }
    return frozenset(tuple(chosen.count(name) for name in names) for _, chosen in reached)


@cache
def on_cards(product, names, cards):
    """The counts of every set of instances of some cards."""
    if cards == 0:
        return frozenset({(0,) * len(names)})
    return frozenset(
        tuple(map(sum, zip(one, other, strict=True)))
        for one in card(product, names)
        for other in on_cards(product, names, cards - 1)
    )


@st.composite
def pools(draw):
    product = draw(st.sampled_from(sorted(FAMILIES)))
    names = st.lists(st.sampled_from(sorted(FAMILIES[product].profiles)), min_size=1, max_size=4)
    return product, tuple(draw(names.map(lambda it: sorted(set(it)))))


@settings(max_examples=200, deadline=None)
@given(pools(), st.integers(1, 3), st.data())
def test_cards_needed_is_the_smallest_number_by_brute_force(pool, cards, data):
    product, names = pool
    layouts = mig.layouts(FAMILIES[product], names)
    counts = data.draw(
        st.tuples(*(st.integers(0, max(it) * cards) for it in zip(*layouts, strict=True)))
    )
    fewest = next((n for n in range(cards + 1) if counts in on_cards(product, names, n)), None)
    needed = mig.cards_needed(layouts, counts)
    assert needed == fewest or (fewest is None and needed > cards)


@settings(max_examples=60, deadline=None)
@given(pools(), st.data())
def test_most_is_the_largest_number_by_brute_force(pool, data):
    product, names = pool
    layouts = mig.layouts(FAMILIES[product], names)
    counts = data.draw(
        st.tuples(*(st.integers(0, max(it) * 2) for it in zip(*layouts, strict=True)))
    )
    rest = counts[1:]
    fitting = [it[0] for it in on_cards(product, names, 2) if it[1:] == rest]
    expected = min(counts[0], max(fitting, default=-1))
    assert mig.most(layouts, counts, 0, 2) == expected


@pytest.mark.parametrize("product", FAMILIES)
def test_a_profile_alone_fits_as_often_as_nvidia_lists(product):
    family = FAMILIES[product]
    for name, profile in family.profiles.items():
        assert mig.layouts(family, [name]) == ((profile.max_per_gpu,),)
        assert max(profile.starts) + profile.memory_slices <= family.memory_slices


@pytest.mark.parametrize(
    "instances, cards",
    [
        # NVIDIA's example configurations of one card
        ({"3g.20gb": 2}, 1),
        ({"4g.20gb": 1, "3g.20gb": 1}, 1),
        ({"4g.20gb": 1, "2g.10gb": 1, "1g.5gb": 1}, 1),
        ({"2g.10gb": 3, "1g.10gb": 1}, 1),
        ({"1g.5gb": 2, "2g.10gb": 1, "3g.20gb": 1}, 1),
        ({"2g.10gb": 2, "3g.20gb": 1}, 1),
        ({"4g.20gb": 2}, 2),
        ({"4g.20gb": 8, "3g.20gb": 4, "2g.10gb": 4}, 8),
        ({"4g.20gb": 8, "3g.20gb": 4, "2g.10gb": 6}, 9),
        ({"7g.40gb": 4, "2g.10gb": 13}, 9),
        ({"1g.5gb+me": 3, "1g.5gb": 4}, 3),
    ],
)
def test_by_hand_on_an_a100(instances, cards):
    layouts = mig.layouts(FAMILIES["a100-40gb"], tuple(instances))
    assert mig.cards_needed(layouts, tuple(instances.values())) == cards


@pytest.mark.parametrize(
    "product, instances, cards",
    [
        ("a30", {"1g.6gb": 2, "2g.12gb": 1}, 1),
        ("a30", {"1g.6gb+me": 1, "2g.12gb+me": 1}, 2),
        ("rtx-pro-6000", {"1g.24gb+me.all": 1, "1g.24gb-me": 3}, 1),
        ("rtx-pro-6000", {"1g.24gb+me.all": 1, "1g.24gb": 1}, 2),
        ("rtx-pro-6000", {"1g.24gb+me": 1, "1g.24gb+gfx": 3}, 1),
    ],
)
def test_instances_compete_for_media_engines(product, instances, cards):
    layouts = mig.layouts(FAMILIES[product], tuple(instances))
    assert mig.cards_needed(layouts, tuple(instances.values())) == cards


def test_no_instances_need_no_card():
    assert mig.cards_needed(mig.layouts(FAMILIES["a30"], ("1g.6gb",)), (0,)) == 0


def test_thousands_of_cards_are_exact():
    names = ("4g.20gb", "3g.20gb", "2g.10gb")
    layouts = mig.layouts(FAMILIES["a100-40gb"], names)
    assert mig.cards_needed(layouts, (5000, 2500, 2500)) == 5000
    assert mig.cards_needed(layouts, (5000, 2500, 2501)) == 5001


def test_a_million_instances_are_exact():
    names = ("2g.12gb", "1g.6gb", "1g.6gb+me", "2g.12gb+me")
    needs = (486_266, 504_059, 151_921, 201_426)
    layouts = mig.layouts(FAMILIES["a30"], names)
    slices = sum(need * int(name[0]) for name, need in zip(names, needs, strict=True))
    assert mig.cards_needed(layouts, needs) == -(-slices // 4)
