"""Patches of differences, which a server accepts only if nothing has changed since."""

from msgspec import UNSET

from policygen.core.finding import pointer
from policygen.drift.compare import FieldDifference
from policygen.drift.patch_forms import alone, at, operations
from tests.drift.jsonpatch import applied

FOUND = {"spec": {"a": 1, "list": [{"name": "x", "v": 1}, {"name": "y", "v": 2}]}}


def difference(path, wanted, found, **more):
    return FieldDifference(path, wanted, found, path, **more)


def test_a_pointer_escapes_what_separates():
    assert pointer(("metadata", "labels", "a.b/c~d", 0)) == "/metadata/labels/a.b~1c~0d/0"


def test_a_missing_value_is_unset():
    assert at(FOUND, ("spec", "list", 1, "v")) == 2
    for path in [("gone",), ("spec", "list", 7), ("spec", "a", "x"), ("spec", "list", "x")]:
        assert at(FOUND, path) is UNSET


def test_a_place_in_a_list_is_tested_first():
    wanted = {"spec": {"a": 1, "list": [{"name": "x", "v": 1}, {"name": "y", "v": 9}]}}
    made = operations(wanted, FOUND, [difference(("spec", "list", 1, "v"), 9, 2)])
    assert made == [
        {"op": "test", "path": "/spec/list/1/v", "value": 2},
        {"op": "replace", "path": "/spec/list/1/v", "value": 9},
    ]
    assert applied(FOUND, made) == wanted


def test_a_field_that_is_not_there_is_tested_by_the_name_of_its_entry():
    path = ("spec", "list", 1, "w")
    wanted = {"spec": {"list": [{"name": "x"}, {"name": "y", "w": 3}]}}
    assert operations(wanted, FOUND, [difference(path, 3, UNSET)]) == [
        {"op": "test", "path": "/spec/list/1/name", "value": "y"},
        {"op": "add", "path": "/spec/list/1/w", "value": 3},
    ]


def test_missing_parents_are_made_together():
    wanted = {"spec": {"a": 1, "b": {"c": {"d": 1, "e": 2}}}}
    fields = [
        difference(("spec", "b", "c", "d"), 1, UNSET),
        difference(("spec", "b", "c", "e"), 2, UNSET),
    ]
    assert operations(wanted, FOUND, fields) == [
        {"op": "add", "path": "/spec/b", "value": {"c": {"d": 1, "e": 2}}}
    ]


def test_a_list_whose_entries_change_is_written_completely():
    wanted = {"spec": {"a": 1, "list": [{"name": "x", "v": 1}]}}
    entry = difference(("spec", "list", 1), UNSET, {"name": "y", "v": 2})
    (change,) = operations(wanted, FOUND, [entry])
    assert change == {"op": "replace", "path": "/spec/list", "value": wanted["spec"]["list"]}


def test_what_is_extra_is_removed():
    assert operations({"spec": {}}, FOUND, [difference(("spec", "a"), UNSET, 1)]) == [
        {"op": "remove", "path": "/spec/a"}
    ]


def test_alone_a_mapping_that_may_be_missing_is_merged():
    wanted = {"metadata": {"labels": {"a": "b"}}}
    it = difference(("metadata", "labels", "a"), "b", UNSET)
    assert alone(wanted, FOUND, it) == ("merge", wanted)
    form, patch = alone({"spec": {"a": 2}}, FOUND, difference(("spec", "a"), 2, 1))
    assert (form, patch) == ("json", [{"op": "replace", "path": "/spec/a", "value": 2}])
