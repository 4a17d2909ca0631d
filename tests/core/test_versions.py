"""Versions of a target, and values that depend on them."""

import pytest

from policygen.core.versions import DEFAULT, SUPPORTED, Version, kueue_release, parse


@pytest.mark.parametrize(
    ("text", "version", "again"),
    [("1.36", Version(1, 36), "1.36"), ("v1.36.3", Version(1, 36, 3), "1.36.3")],
)
def test_a_version_is_read_and_written(text, version, again):
    assert parse("kubernetes", text) == version
    assert str(version) == again


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("0.12", "is not supported"),
        ("0.20.1", "is not supported"),
        ("1.13", "is not supported"),
        ("latest", "is not a valid version"),
        ("0.13.x", "is not a valid version"),
        ("0.13 ", "is not a valid version"),
    ],
)
def test_other_versions_are_refused_with_those_that_are_supported(text, fault):
    with pytest.raises(ValueError, match=f"{fault}; write one of 0.13, 0.14, .*, 0.19$"):
        parse("kueue", text)


def test_each_default_is_supported():
    for component, version in DEFAULT.items():
        assert parse(component, str(version)) == version
    assert set(DEFAULT) == set(SUPPORTED)


@pytest.mark.parametrize(
    ("version", "items", "word"),
    [
        (Version(0, 13, 9), 16, "Borrow"),
        (Version(0, 14), 64, "Borrow"),
        (Version(0, 15), 64, "MayStopSearch"),
        (Version(0, 19), 64, "MayStopSearch"),
    ],
)
def test_the_facts_of_a_release_of_kueue(version, items, word):
    release = kueue_release(version)
    assert (release.max_items, release.stop_search) == (items, word)
