"""The author of a field comes from managedFields; a removed field has no author."""

import pytest

from policygen.drift.field_managers import are_known, authors

FOUND = {
    "apiVersion": "kueue.x-k8s.io/v1beta2",
    "kind": "ClusterQueue",
    "metadata": {
        "name": "nlp",
        "labels": {"a": "b"},
        "managedFields": [
            {
                "manager": "policygen",
                "operation": "Apply",
                "apiVersion": "kueue.x-k8s.io/v1beta2",
                "time": "2026-11-20T10:00:00Z",
                "fieldsType": "FieldsV1",
                "fieldsV1": {
                    "f:metadata": {"f:labels": {"f:a": {}}},
                    "f:spec": {
                        "f:resourceGroups": {},
                        "f:flavorFungibility": {},
                        "f:preemption": {"f:withinClusterQueue": {}},
                        "f:admissionChecksStrategy": {
                            "f:admissionChecks": {'k:{"name":"one"}': {".": {}, "f:name": {}}}
                        },
                    },
                },
            },
            {
                "manager": "kubectl-edit",
                "operation": "Update",
                "apiVersion": "kueue.x-k8s.io/v1beta1",
                "time": "2026-11-21T03:00:12Z",
                "fieldsType": "FieldsV1",
                "fieldsV1": {
                    "f:spec": {"f:cohort": {}, "f:preemption": {"f:withinClusterQueue": {}}}
                },
            },
            {
                "manager": "checks",
                "operation": "Update",
                "apiVersion": "kueue.x-k8s.io/v1beta2",
                "time": "2026-11-21T04:00:00Z",
                "fieldsType": "FieldsV1",
                "fieldsV1": {
                    "f:spec": {
                        "f:admissionChecksStrategy": {
                            "f:admissionChecks": {
                                'k:{"name":"two"}': {
                                    ".": {},
                                    "f:name": {},
                                    "f:onFlavors": {".": {}, 'v:"a100"': {}},
                                }
                            }
                        }
                    }
                },
            },
        ],
    },
    "spec": {
        "cohortName": "all",
        "resourceGroups": [{"flavors": [{"name": "a100"}]}],
        "preemption": {"withinClusterQueue": "Any", "reclaimWithinCohort": "Never"},
        "admissionChecksStrategy": {
            "admissionChecks": [{"name": "one"}, {"name": "two", "onFlavors": ["a100"]}]
        },
    },
}
CHECKS = ("spec", "admissionChecksStrategy", "admissionChecks")


@pytest.mark.parametrize(
    "path, managers",
    [
        (("metadata", "labels", "a"), ["policygen"]),
        (("spec", "resourceGroups", 0, "flavors", 0, "name"), ["policygen"]),
        # Two managers own this field; the last writer comes first.
        (("spec", "preemption", "withinClusterQueue"), ["kubectl-edit", "policygen"]),
        # The server filled it in.
        (("spec", "preemption", "reclaimWithinCohort"), []),
        # Written in an older version, under its name there.
        (("spec", "cohortName"), ["kubectl-edit"]),
        ((*CHECKS, 0), ["policygen"]),
        ((*CHECKS, 1), ["checks"]),
        ((*CHECKS, 1, "name"), ["checks"]),
        ((*CHECKS, 1, "onFlavors", 0), ["checks"]),
        ((*CHECKS, 7), []),
        (("spec", "flavorFungibility"), ["policygen"]),
        (("spec", "flavorFungibility", "whenCanBorrow"), []),
        (("spec", "nothing"), []),
    ],
)
def test_who_owns_a_field(path, managers):
    assert [it.manager for it in authors(FOUND, path)] == managers


@pytest.mark.parametrize(
    "path, managers",
    [
        # What it leaves of a mapping is the bare mapping.
        (("spec", "flavorFungibility", "whenCanBorrow"), []),
        # A list that is owned as a whole: who wrote it took the entry out.
        (("spec", "resourceGroups", 1), ["policygen"]),
        (("spec", "resourceGroups", 0, "flavors", 0, "resources"), ["policygen"]),
        # Entries with keys are owned one by one, and this number is another's now.
        ((*CHECKS, 1), []),
        (("spec", "stopPolicy"), []),
        (("metadata", "labels", "c"), []),
    ],
)
def test_what_was_taken_away_has_an_author_only_as_part_of_a_whole(path, managers):
    assert [it.manager for it in authors(FOUND, path, gone=True)] == managers


def test_without_managed_fields_no_author_is_named():
    bare = {**FOUND, "metadata": {"name": "nlp"}}
    assert are_known(FOUND)
    assert not are_known(bare)
    assert authors(bare, ("spec", "cohortName")) == ()


def test_an_author_has_an_operation_and_a_time():
    (last, _) = authors(FOUND, ("spec", "preemption", "withinClusterQueue"))
    assert str(last) == "kubectl-edit (Update), at 2026-11-21T03:00:12Z"


@pytest.mark.parametrize(
    "entry",
    [{}, {"fieldsV1": None}, {"fieldsV1": {}}, {"fieldsV1": {"f:spec": []}}, {"fieldsV1": 3}],
)
def test_empty_entries_own_nothing(entry):
    broken = {'k:{"name"': {}, "v:": {}, "k:3": {}, "": {}}
    checks = {"f:spec": {"f:admissionChecksStrategy": {"f:admissionChecks": broken}}}
    thing = {**FOUND, "metadata": {"managedFields": [{"manager": "x", "fieldsV1": checks}]}}
    assert authors(thing, (*CHECKS, 1)) == ()

    thing = {**FOUND, "metadata": {"managedFields": [entry]}}
    assert authors(thing, ("spec", "cohortName")) == ()
    assert authors(thing, ("spec", "cohortName"), gone=True) == ()
