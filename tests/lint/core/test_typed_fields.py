"""Values of controllers' files that Go cannot decode."""

import pytest

from policygen.lint.core.typed_fields import ANY, Type, faults, right

FIELDS = {
    "on": Type.BOOLEAN,
    "wait": Type.DURATION,
    "count": Type.INTEGER,
    "share": Type.NUMBER,
    "name": Type.TEXT,
    "inner": {"count": Type.INTEGER},
    "weights": {ANY: Type.NUMBER},
    "free": None,
}


@pytest.mark.parametrize(
    "data",
    [
        {"on": True, "wait": "1h30m", "count": 3, "share": 0.5, "name": "a"},
        {"count": 3.0, "share": 1, "on": None, "inner": None},
        {"unknown": [], "free": object(), "weights": {"a": 1, "b": 2.5}},
        {"inner": [{"count": 1}, None]},
        [],
        None,
    ],
)
def test_what_can_be_decoded(data):
    assert list(faults(data, FIELDS)) == []


@pytest.mark.parametrize(
    ("data", "path", "words"),
    [
        ({"on": "True"}, ("on",), "write true without quotes"),
        ({"on": 1}, ("on",), "1 is not a boolean; write a boolean"),
        ({"wait": "5 minutes"}, ("wait",), "write a duration such as 15s"),
        ({"wait": 5}, ("wait",), "5 is not a duration"),
        ({"count": "3"}, ("count",), "write 3 without quotes"),
        ({"count": 1.5}, ("count",), "1.5 is not an integer"),
        ({"count": True}, ("count",), "true is not an integer"),
        ({"share": True}, ("share",), "true is not a number"),
        ({"name": 1}, ("name",), "put it in quotes"),
        ({"name": []}, ("name",), "a list is not a string; write a string"),
        ({"inner": {"count": []}}, ("inner", "count"), "a list is not an integer"),
        (
            {"inner": [{"count": 1}, "x"]},
            ("inner", 1),
            'is not a mapping; write the fields as "name: value"',
        ),
        ({"inner": "x"}, ("inner",), "is not a mapping"),
        ({"weights": {"a": "b"}}, ("weights", "a"), "is not a number"),
    ],
)
def test_what_cannot(data, path, words):
    ((at, message),) = faults(data, FIELDS)
    assert at == path
    assert words in message


def test_a_value_of_another_type_is_missing():
    data = {"count": "3", "on": True}
    assert right(data, "on", Type.BOOLEAN) is True
    assert right(data, "count", Type.INTEGER) is None
    assert right(data, "gone", Type.INTEGER) is None


def test_lists_and_mappings_where_the_names_of_lists_are_known():
    fields = {"inner": {"a": Type.TEXT}, "list": {"a": Type.TEXT}}
    assert list(faults({"inner": {}, "list": [{"a": "b"}, None]}, fields, lists={"list"})) == []
    for data in ({"inner": []}, {"list": {}}):
        ((at, message),) = faults(data, fields, lists={"list"})
        assert at == tuple(data)
        assert "is not a" in message


def test_integers_of_32_bits_and_lists_of_strings():
    fields = {"small": Type.INT32, "texts": Type.TEXTS}
    assert list(faults({"small": (1 << 31) - 1, "texts": ["a", None]}, fields)) == []
    assert [at for at, _ in faults({"small": 1 << 31, "texts": ["a", 1]}, fields)] == [
        ("small",),
        ("texts",),
    ]
