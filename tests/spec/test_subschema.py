"""Parts of a schema, and the values that they accept."""

import math

import pytest

from policygen.spec.subschema import find, fits, resolved, types_of

ROOT = {
    "properties": {
        "a": {"$ref": "#/$defs/x", "description": "own"},
        "list": {"items": {"$ref": "#/$defs/x"}},
        "free": {"additionalProperties": {"type": "number"}},
    },
    "$defs": {
        "x": {"type": "string", "description": "shared", "properties": {"b": {"type": "null"}}}
    },
}


def test_a_reference_is_followed_and_its_own_words_win():
    assert resolved(ROOT, ROOT["properties"]["a"])["description"] == "own"
    assert resolved(ROOT, {"type": "null"}) == {"type": "null"}


def test_the_schema_at_a_path():
    assert find(ROOT, ()) is ROOT
    assert find(ROOT, ("a", "b")) == {"type": "null"}
    assert find(ROOT, ("list", 3, "b")) == {"type": "null"}
    assert find(ROOT, ("free", "anything")) == {"type": "number"}
    for path in [("gone",), ("a", 0), ("list", "b")]:
        assert find(ROOT, path) is None


def test_types_by_name():
    assert types_of({"type": "string"}) == ("string",)
    assert types_of({"type": ["string", "null"]}) == ("string", "null")
    assert types_of({}) == ()


QUANTITY = {"type": ["string", "number"], "format": "kubernetes-quantity"}


@pytest.mark.parametrize(
    ("schema", "value", "good"),
    [
        ({"type": "integer", "maximum": 3}, 3, True),
        ({"type": "integer", "maximum": 3}, 4, False),
        ({"type": "number"}, math.nan, False),
        (QUANTITY, "1Gi", True),
        (QUANTITY, "1 Gi", False),
        ({"format": "model-size"}, "70b", True),
        ({"format": "model-size"}, "1.5", False),
    ],
)
def test_what_fits(schema, value, good):
    assert fits(schema, value) is good
