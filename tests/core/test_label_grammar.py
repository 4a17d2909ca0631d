"""Keys and values of labels, at the borders of the grammar."""

import pytest

from policygen.core.label_grammar import config_key_fault, key_fault, value_fault


@pytest.mark.parametrize(
    "key", ["a", "A.b_c-D", "x" * 63, "example.com/gpu", f"{'a' * 253}/x", "9.9/9"]
)
def test_valid_keys(key):
    assert key_fault(key) is None


@pytest.mark.parametrize(
    ("key", "remedy"),
    [
        ("", "at most 63"),
        ("x" * 64, "at most 63"),
        ("-a", "beginning and ending"),
        ("a.", "beginning and ending"),
        ("example.com/", "at most 63"),
        ("/a", "lower-case domain"),
        ("Example.com/a", "lower-case domain"),
        (f"{'a' * 254}/x", "lower-case domain"),
        ("a/b/c", "lower-case domain"),
        ("a\n", "at most 63"),
    ],
)
def test_invalid_keys(key, remedy):
    assert remedy in key_fault(key)


@pytest.mark.parametrize("value", ["", "1", "a_b", "x" * 63])
def test_valid_values(value):
    assert value_fault(value) is None


@pytest.mark.parametrize("value", ["a b", "a/b", "-", "x" * 64, "é"])
def test_invalid_values(value):
    assert "is not a valid label value; write at most 63 letters" in value_fault(value)


@pytest.mark.parametrize(
    ("key", "fault"),
    [
        ("a_b.C-1", None),
        (".a", None),
        ("", "not a valid key"),
        ("a/b", "not a valid key"),
        (".", 'it is "."'),
        ("..a", 'begins with ".."'),
        ("x" * 254, "254 characters"),
    ],
)
def test_keys_of_config_maps(key, fault):
    found = config_key_fault(key)
    assert found is None if fault is None else fault in found
