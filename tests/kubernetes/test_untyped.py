"""Parts of unchecked data: a value of a wrong type is missing."""

from policygen.kubernetes import untyped

DATA = {"a": {"b": [{"c": 1}, "d", None], "e": "f", "g": {"h": "i", "j": 2}}}


def test_each_type_is_read_at_its_path():
    assert untyped.mapping(DATA, "a", "g") == {"h": "i", "j": 2}
    assert untyped.entries(DATA, "a", "b") == [{"c": 1}, "d", None]
    assert untyped.mappings(DATA, "a", "b") == [{"c": 1}]
    assert list(untyped.numbered(DATA, "a", "b")) == [(0, {"c": 1})]
    assert untyped.texts(DATA, "a", "b") == ("d",)
    assert untyped.text(DATA, "a", "e") == "f"
    assert untyped.keyed_texts(DATA, "a", "g") == {"h": "i"}


def test_what_is_of_another_type_is_missing():
    assert untyped.mapping(DATA, "a", "b") == {}
    assert untyped.mapping(DATA, "a", "e", "x") == {}
    assert untyped.mapping([], "a") == {}
    assert untyped.entries(DATA, "a", "g") == []
    assert untyped.text(DATA, "a", "b") == ""
    assert untyped.texts(None, "a") == ()


def test_what_is_read_can_be_changed_in_its_place():
    data = {"a": {"b": {}}}
    untyped.mapping(data, "a", "b")["c"] = 1
    assert data == {"a": {"b": {"c": 1}}}


def test_a_boolean_is_not_an_integer():
    assert [untyped.integer(it) for it in (0, 7, True, 1.0, "1", None)] == [0, 7] + [None] * 4
