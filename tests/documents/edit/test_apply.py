"""Applies edits to data; the result is what the edited text must parse to."""

import copy

import pytest

from policygen.core.finding import At, Edit, NewMapping, Verb
from policygen.documents.edit.apply import EditError, applied, same

DATA = {"a": {"b": 1.1, "c": [1, 2, {"d": "e"}]}, "f": None}


def edit(verb, *path, to=""):
    return Edit(verb, At(0, path), to)


@pytest.mark.parametrize(
    ("edits", "wanted"),
    [
        ([edit(Verb.REWRITE, "a", "c", 0, to=7)], {"a": {"b": 1.1, "c": [7, 2, {"d": "e"}]}, "f": None}),
        ([edit(Verb.QUOTE, "a", "b")], {"a": {"b": "1.10", "c": [1, 2, {"d": "e"}]}, "f": None}),
        ([edit(Verb.RENAME, "a", to="z"), edit(Verb.REMOVE, "a", "c")], {"z": {"b": 1.1}, "f": None}),
        ([edit(Verb.REMOVE, "a", "c", 0), edit(Verb.REWRITE, "a", "c", 1, to=9)], {"a": {"b": 1.1, "c": [9, {"d": "e"}]}, "f": None}),
        ([edit(Verb.NEST, "a", "c", to="x")], {"a": {"b": 1.1, "c": {"x": [1, 2, {"d": "e"}]}}, "f": None}),
        ([edit(Verb.ADD, "a", "g", "h", to=True)], {"a": {"b": 1.1, "c": [1, 2, {"d": "e"}], "g": {"h": True}}, "f": None}),
        ([edit(Verb.REMOVE, "f"), edit(Verb.ADD, "f", to=1)], {"a": {"b": 1.1, "c": [1, 2, {"d": "e"}]}, "f": 1}),
        ([edit(Verb.NEST, "f", to=NewMapping((("t", 1), ("x", ""))))], {"a": {"b": 1.1, "c": [1, 2, {"d": "e"}]}, "f": {"t": 1, "x": None}}),
        ([edit(Verb.NEST, "f", to="x")] * 2, {"a": {"b": 1.1, "c": [1, 2, {"d": "e"}]}, "f": {"x": None}}),
    ],
)  # fmt: skip
def test_the_data_after_edits(edits, wanted):
    before = copy.deepcopy(DATA)
    assert same(wanted, applied(before, edits, {("a", "b"): "1.10"}))


@pytest.mark.parametrize(
    ("it", "fault"),
    [
        (edit(Verb.RENAME, "a", to="f"), 'key "f" already exists'),
        (edit(Verb.ADD, "f", to=1), 'key "f" already exists'),
        (edit(Verb.ADD, "f", "x", to=1), "its parent is not a mapping"),
        (edit(Verb.ADD, "a", "c", 4, to=1), "its parent is not a mapping"),
    ],
)
def test_what_cannot_be_made(it, fault):
    with pytest.raises(EditError, match=fault):
        applied(copy.deepcopy(DATA), [it], {})


def test_two_keys_can_change_their_places():
    edits = [edit(Verb.RENAME, "a", to="x"), edit(Verb.RENAME, "b", to="a")]
    assert applied({"a": 1, "b": 2}, edits, {}) == {"x": 1, "a": 2}
    edits = [edit(Verb.REMOVE, "a"), edit(Verb.RENAME, "b", to="a")]
    assert applied({"a": 1, "b": 2}, edits, {}) == {"a": 2}


def test_types_matter_and_the_order_of_keys_does_not():
    assert same({"a": 1, "b": [1.0]}, {"b": [1.0], "a": 1})
    for one, other in [(1, 1.0), (1, True), ([1], [1, 2]), ({"a": 1}, {"b": 1}), ([1, 2], [2, 1])]:
        assert not same(one, other)
