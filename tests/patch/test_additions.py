"""What an object gets, as edits and as a JSON patch."""

from policygen.core.finding import At, Edit, NewMapping, Verb
from policygen.patch.additions import additions, edits, entries, operations
from tests.drift.jsonpatch import applied

OLD = {"a": {"b": 1}, "labels": {}, "none": None, "list": [{"c": 1}, {}], "empty": []}
NEW = {
    "a": {"b": 1, "x/y": {"z": "1"}},
    "labels": {"k~": "v"},
    "none": {"d": [1]},
    "list": [{"c": 1, "e": 2}, {"h": 3}, {"f": "g"}],
    "empty": [],
}


def test_only_the_highest_missing_parts_are_added():
    made = list(additions(OLD, NEW))
    assert [(it.path, it.fills) for it in made] == [
        (("a", "x/y"), False),
        (("labels",), True),
        (("none",), True),
        (("list", 0, "e"), False),
        (("list", 1), True),
        (("list", 2), False),
    ]
    assert list(additions(NEW, NEW)) == []


def test_a_json_patch_makes_the_new_object():
    patch = operations(additions(OLD, NEW))
    assert [it["op"] for it in patch] == ["add", "replace", "replace", "add", "replace", "add"]
    assert [it["path"] for it in patch[:2]] == ["/a/x~1y", "/labels"]
    assert applied(OLD, patch) == NEW


def test_edits_fill_empty_values_and_add_others():
    first, second, *_ = edits(additions(OLD, NEW), At(3, ("items", 0)))
    assert first == Edit(Verb.ADD, At(3, ("items", 0, "a", "x/y")), NewMapping((("z", "1"),)))
    assert second == Edit(Verb.REWRITE, At(3, ("items", 0, "labels")), NewMapping((("k~", "v"),)))


def test_an_amount_is_named_with_its_request_or_limit():
    before = {"resources": {"requests": {"cpu": 20}}, "list": []}
    limits = {"cpu": 20, "nvidia.com/gpu": 1}
    after = {
        "resources": {"requests": {"cpu": 20, "memory": "1Gi"}, "limits": limits},
        "list": ["a"],
    }
    assert [*entries(additions(before, after))] == [
        ("requests.memory", "1Gi"),
        ("limits.cpu", 20),
        ("nvidia.com/gpu", 1),
        ("list", ["a"]),
    ]
