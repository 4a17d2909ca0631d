"""Paths that checks pass on as a chain of steps."""

from policygen.api_validation.refusal import about, named, path_to

SPOT = ((((None, "spec"), "levels"), 2), 0)


def test_a_chain_is_a_path():
    assert path_to(SPOT) == ("spec", "levels", 2, 0)
    assert path_to(None) == ()


def test_the_field_of_a_place():
    assert named(SPOT) == "levels[2][0]"
    assert named((None, "a\nb")) == r"a\nb"
    assert named(None) == ""
    assert about(SPOT, "is missing") == "levels[2][0] is missing"
    assert about(None, "is missing") == "is missing"
