import string
from difflib import SequenceMatcher, get_close_matches

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policygen.core.suggest import (
    Names,
    firm_letters,
    is_near,
    is_slip,
    is_typo,
    meant_file,
    suggest,
)

FAMILIES = [f"team-{n:04}.{card}" for n in range(1000) for card in ("a100", "h100")]
MANY = Names(FAMILIES)


def slips(word):
    """One letter too many, too few, another, or two of them swapped."""
    for at in range(1, len(word) - 1):
        yield word[:at] + word[at + 1 :]
        yield word[:at] + "x" + word[at:]
        yield word[:at] + "x" + word[at + 1 :]
        yield word[:at] + word[at + 1] + word[at] + word[at + 2 :]


@pytest.mark.parametrize("known", [[], Names()])
def test_nothing_is_known(known):
    assert suggest("a", known) == "no name is defined"
    assert suggest("a", known, "ResourceFlavor") == "no ResourceFlavor is defined"


def test_few_names_are_listed_and_case_does_not_count():
    assert suggest("vison", ["Vision", "nlp"]) == 'did you mean "Vision"?'
    assert suggest("xyz", ["b", "a", "a"]) == "known: a, b"
    letters = Names(string.ascii_lowercase)
    assert suggest("123", letters) == "known: a, b, c, d, e, f, g, h, i, j and 16 more"


def test_of_too_many_names_those_with_the_word_are_shown():
    names = [f"{letter}{letter}-of-a-rather-long-name" for letter in string.ascii_lowercase]
    others = [*names, "queue-that-borrows-too-much", "cohort-without-BORROWING-in-it"]
    told = "cohort-without-BORROWING-in-it, queue-that-borrows-too-much"
    assert suggest("borrow", others) == f"similar: {told}"
    assert suggest("long", names).endswith("and 23 more")
    assert suggest("bo", others).startswith("known: ")


def test_a_name_is_not_its_own_nearest():
    assert suggest("training", Names(["training", "traning"])) == 'did you mean "traning"?'
    assert suggest("a", Names(["a"]), "Team") == "no other Team is defined"
    assert suggest("a", Names(["a", "xyz"])) == "known: xyz"


def test_among_many_a_slip_is_found_as_among_few():
    found = [suggest(slip, MANY) for slip in slips("team-0123.a100")]
    right = sum(advice == 'did you mean "team-0123.a100"?' for advice in found)
    assert right / len(found) > 0.6  # a slip in its number may be nearer to another
    assert all(advice.startswith("did you mean") for advice in found)


def test_the_begin_of_a_word_is_found_before_longer_names():
    names = Names([*FAMILIES, "h100", "h200", *(f"h100-{n}gb" for n in range(9))])
    assert names.meant("h1000") == "h100"


def test_a_lookup_compares_few_of_many(monkeypatch):
    compared = []
    real = SequenceMatcher.set_seq1
    monkeypatch.setattr(
        SequenceMatcher,
        "set_seq1",
        lambda it, name: compared.append(name) or real(it, name),
    )
    for _ in range(2):
        assert suggest("taem-0500.a100", MANY) == 'did you mean "team-0500.a100"?'
    assert 0 < len(compared) < 20


LETTERS = st.text(st.sampled_from("abc-1"), max_size=8)


@given(LETTERS, st.lists(LETTERS, unique=True))
def test_the_closest_is_that_of_difflib(word, names):
    found = [it for it in names if it != word]
    close = get_close_matches(word, found, n=1, cutoff=0.6)
    same_letters = [it for it in found if sorted(it) == sorted(word)]
    said = suggest(word, names)
    assert said.startswith("did you mean") == bool(close or same_letters)
    if close:
        assert said == f'did you mean "{close[0]}"?'


@pytest.mark.parametrize(
    "word", ["hostnam", "hostnaame", "hsotname", "Hostname", "hostnames", "hostname"]
)
def test_slips_of_one_letter(word):
    assert is_slip(word, "hostname")


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("rank", "rack"),
        ("zone1", "zone2"),
        ("zone1", "zone"),
        ("host", "hostname"),
        ("", "a"),
        ("b", "a"),
    ],
)
def test_other_words_can_be_intended(word, meant):
    assert not is_slip(word, meant)
    assert not is_slip(meant, word)


def test_a_common_ending_does_not_make_files_similar():
    entries = ["syn.yaml", "teams.yaml", "spec"]
    assert meant_file("missing.yaml", entries) == ""
    assert meant_file("team.yaml", entries) == "teams.yaml"
    assert meant_file("teams.yml", entries) == "teams.yaml"
    assert meant_file("spce", entries) == "spec"


@pytest.mark.parametrize(
    ("word", "name", "letters", "near"),
    [
        ("inferense", "inference", True, True),
        ("inferense", "inference", False, False),
        ("hftoken", "hf-token", False, True),
        ("zone1", "zone2", True, False),
        ("tss", "tts", True, False),
    ],
)
def test_names_that_differ_by_one_letter_or_by_separators(word, name, letters, near):
    assert is_near(word, name, letters=letters) is near


def test_swapped_letters_of_a_short_name_are_a_mistake():
    assert Names(["ai", "root", "research"]).meant("ia") == "ai"
    assert Names(["ai", "root"]).meant("io") == ""


@pytest.mark.parametrize(
    ("word", "name", "like", "typo"),
    [
        ("a10O", "a100", 1, True),
        ("pool.l40", "pool-l40", 1, True),
        ("team-visoin", "team-vision", 1, True),
        ("reserhc-team", "research-team", 1, False),
        ("reserhc-team", "research-team", 0.7, True),
        ("a100", "h100", 0.7, False),
        ("l40", "l40s", 0.7, False),
        ("team-a", "team-b", 0.7, False),
        ("r12", "r21", 0.7, False),
    ],
)
def test_names_that_certainly_mean_the_same(word, name, like, typo):
    assert is_typo(word, name, like=like) is typo


@given(st.text("abo01lB-.", max_size=9), st.integers(0, 9), st.text("abo01lB-.", max_size=2))
def test_words_that_mean_the_same_differ_in_at_most_one_firm_letter(word, at, new):
    for meant in (
        word[:at] + new + word[at:],
        word[:at] + word[at : at + 2][::-1] + word[at + 2 :],
        word[:at] + new + word[at + 1 :],
    ):
        if is_typo(word, meant) or is_near(word, meant, letters=False):
            assert len(firm_letters(word) ^ firm_letters(meant)) <= 1
