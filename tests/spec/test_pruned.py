import pytest

from policygen.spec import forms, schema
from policygen.spec.pruned import pruned


def team(**spec):
    return {
        "apiVersion": forms.OWN,
        "kind": "Team",
        "metadata": {"name": "a"},
        "spec": {"quotas": [{"pool": "p"}], **spec},
    }


def left(data):
    return pruned(forms.TEAM, data, schema.check(forms.TEAM, data, 0))


@pytest.mark.parametrize(
    "given, kept",
    [
        ({}, {}),
        ({"parent": 1}, {}),
        ({"parent": "b", "parnt": "c"}, {"parent": "b"}),
        ({"maxPending": -1, "parent": "b"}, {"parent": "b"}),
        (
            {"quotas": [{"pool": "p", "weight": 0}, {"pool": "q", "wait": 1}]},
            {"quotas": [{"pool": "p"}, {"pool": "q"}]},
        ),
        # One entry cannot be removed alone: the positions of later entries would change.
        (
            {"quotas": [{"weight": 1}, {"pool": "q"}], "parent": "b"},
            {"parent": "b", "quotas": None},
        ),
        ({"quotas": [1, {"pool": "q"}]}, {"quotas": None}),
        ({"containerDefaults": {"cpu": 1}}, {}),
    ],
)
def test_the_rest_is_kept_where_it_was(given, kept):
    data = team(**given)
    expected = {"quotas": [{"pool": "p"}], **kept}
    expected = {key: value for key, value in expected.items() if value is not None}
    assert left(data)["spec"] == expected
    assert data == team(**given)


@pytest.mark.parametrize("key", ["metadata", "spec", "kind"])
def test_nothing_is_left_of_a_document_that_lacks_its_frame(key):
    assert left({name: value for name, value in team().items() if name != key}) is None
