"""Fields of an object that may have a wrong type."""

import pytest

from policygen.api_validation.fields import mapping, mappings, numbered, strings


@pytest.mark.parametrize(
    ("value", "read"), [({"b": 1}, {"b": 1}), (None, {}), ([], {}), ("text", {}), (7, {})]
)
def test_a_mapping(value, read):
    assert mapping({"a": value}, "a") == read
    assert mapping({}, "a") == {}
    assert mapping({"b": [{"a": value}]}, "b", 0, "a") == read


def test_the_mappings_of_a_list_keep_their_indexes():
    data = {"a": [{"b": 1}, None, "c", {}]}
    assert list(numbered(data, "a")) == [(0, {"b": 1}), (3, {})]
    assert mappings(data, "a") == [{"b": 1}, {}]
    assert list(numbered({"a": {"b": {}}}, "a")) == []


def test_the_strings_of_a_list_keep_their_indexes():
    assert strings({"a": ["b", None, 1, "c"]}, "a") == ["b", "", "", "c"]
    assert strings({"a": "text"}, "a") == []
