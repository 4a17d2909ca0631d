"""Names, labels and annotations that servers refuse."""

import pytest

from policygen.api_validation.metadata import (
    ANNOTATIONS_BYTES,
    apply_refusals,
    check,
    is_namespace,
    is_subdomain,
)
from policygen.api_validation.refusal import Reason
from policygen.api_validation.schemas import served


def refusals_of(metadata, api_version="v1", kind="ConfigMap"):
    out = []
    check(metadata, served(api_version, kind), out)
    return [(it.path, it.reason) for it in out]


NAME = ("metadata", "name")
OWNER = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a", "uid": "b"}
OF_NAMESPACE = "kubernetes.io/metadata.name"
OWNERS = ("metadata", "ownerReferences")


@pytest.mark.parametrize(
    ("metadata", "api_version", "kind"),
    [
        ({"name": "a.b-c"}, "v1", "ConfigMap"),
        ({"name": "a" * 253}, "v1", "ConfigMap"),
        ({"generateName": "a-"}, "v1", "ConfigMap"),
        ({"name": "a" * 52}, "batch/v1", "CronJob"),
        ({"name": "system:A"}, "rbac.authorization.k8s.io/v1", "ClusterRole"),
        ({"name": "a_b"}, "policy/v1", "PodDisruptionBudget"),
        ({"name": "a", "annotations": {"A.com/b": "any text"}}, "v1", "ConfigMap"),
        ({"name": "a", "namespace": "Not one"}, "v1", "Namespace"),
        ({"name": "a", "labels": {OF_NAMESPACE: "a-"}}, "v1", "Namespace"),
        (
            {"name": "a", "finalizers": ["orphan", "a.b/c"], "generation": -1},
            "scheduling.k8s.io/v1",
            "PriorityClass",
        ),
        ({"name": "a", "finalizers": ["any"]}, "kueue.x-k8s.io/v1beta2", "ClusterQueue"),
        ({}, "v1", "LimitRange"),  # the server gives it a name
        (
            {"name": "a", "ownerReferences": [OWNER, {**OWNER, "uid": "c", "controller": True}]},
            "v1",
            "ConfigMap",
        ),
    ],
)
def test_what_is_taken(metadata, api_version, kind):
    assert refusals_of(metadata, api_version, kind) == []


@pytest.mark.parametrize(
    ("metadata", "api_version", "kind", "path", "reason"),
    [
        ({"name": "A"}, "v1", "ConfigMap", NAME, Reason.NAME),
        ({"name": "a" * 254}, "v1", "ConfigMap", NAME, Reason.NAME),
        ({"name": "a.b"}, "v1", "Namespace", NAME, Reason.NAME),
        ({"name": "a" * 64}, "v1", "Namespace", NAME, Reason.NAME),
        ({"name": "a" * 53}, "batch/v1", "CronJob", NAME, Reason.NAME),
        ({"name": "a/b"}, "rbac.authorization.k8s.io/v1", "ClusterRole", NAME, Reason.NAME),
        ({}, "v1", "ConfigMap", ("metadata",), Reason.MISSING_FIELD),
        ({"name": "a", "namespace": "a.b"}, "v1", "ConfigMap", ("metadata", "namespace"), Reason.NAME),
        ({"name": "a", "labels": {"a b": "c"}}, "v1", "ConfigMap", ("metadata", "labels", "a b"), Reason.LABEL),
        ({"name": "a", "labels": {"a": "b c"}}, "v1", "ConfigMap", ("metadata", "labels", "a"), Reason.LABEL),
        ({"name": "a", "labels": {OF_NAMESPACE: "a-"}}, "v1", "ConfigMap", ("metadata", "labels", OF_NAMESPACE), Reason.LABEL),
        ({"generateName": "a", "labels": {OF_NAMESPACE: "a-"}}, "v1", "Namespace", ("metadata", "labels", OF_NAMESPACE), Reason.LABEL),
        ({"name": "a", "labels": {"a": 1}}, "v1", "ConfigMap", ("metadata", "labels", "a"), Reason.TYPE),
        ({"generateName": "A_b-"}, "v1", "ConfigMap", ("metadata", "generateName"), Reason.NAME),
        ({"generateName": "a.b-"}, "v1", "Namespace", ("metadata", "generateName"), Reason.NAME),
        ({"name": "a", "finalizers": ["any"]}, "v1", "ConfigMap", ("metadata", "finalizers", 0), Reason.FORMAT),
        ({"name": "a", "finalizers": ["a b/c"]}, "kueue.x-k8s.io/v1beta2", "ClusterQueue", ("metadata", "finalizers", 0), Reason.FORMAT),
        ({"name": "a", "finalizers": ["orphan", "foregroundDeletion"]}, "v1", "ConfigMap", ("metadata", "finalizers"), Reason.FORMAT),
        ({"generateName": "A-"}, "v1", "ConfigMap", ("metadata", "generateName"), Reason.NAME),
        ({"name": "a", "generation": -1}, "v1", "Node", ("metadata", "generation"), Reason.RANGE),
        ({"name": "a", "ownerReferences": [OWNER, OWNER]}, "v1", "ConfigMap", (*OWNERS, 1), Reason.SERVER_SIDE_APPLY),
        ({"name": "a", "finalizers": ["a.b/c", "a.b/c"]}, "v1", "ConfigMap", ("metadata", "finalizers", 1), Reason.SERVER_SIDE_APPLY),
        ({"name": "a", "ownerReferences": [{**OWNER, "uid": ""}]}, "v1", "ConfigMap", (*OWNERS, 0), Reason.MISSING_FIELD),
        ({"name": "a", "ownerReferences": [{**OWNER, "apiVersion": "a/b/c"}]}, "v1", "ConfigMap", (*OWNERS, 0, "apiVersion"), Reason.FORMAT),
        ({"name": "a", "ownerReferences": [{**OWNER, "apiVersion": "v1", "kind": "Event"}]}, "v1", "ConfigMap", (*OWNERS, 0, "kind"), Reason.FORMAT),
        ({"name": "a", "ownerReferences": [{**OWNER, "uid": uid, "controller": True} for uid in "bc"]}, "v1", "ConfigMap", OWNERS, Reason.FORMAT),
        ({"name": "a", "annotations": {"a b": ""}}, "v1", "ConfigMap", ("metadata", "annotations", "a b"), Reason.ANNOTATION),
        ({"name": "a", "annotations": {"a": "b" * ANNOTATIONS_BYTES}}, "v1", "ConfigMap", ("metadata", "annotations"), Reason.ANNOTATION),
    ],
)  # fmt: skip
def test_what_is_refused(metadata, api_version, kind, path, reason):
    assert refusals_of(metadata, api_version, kind) == [(path, reason)]


@pytest.mark.parametrize(
    ("metadata", "fields"),
    [
        ({"name": "a", "uid": "a", "managedFields": []}, ["managedFields", "uid"]),
        ({"generateName": "a-", "managedFields": []}, []),
        (
            {"name": "a", "uid": "a", "managedFields": [], "resourceVersion": "5"},
            [],
        ),  # exported from a cluster
        ({"name": "a", "uid": "", "managedFields": None}, []),
        ("no mapping", []),
    ],
)
def test_fields_with_which_server_side_apply_creates_nothing(metadata, fields):
    assert [it.path for it in apply_refusals(metadata)] == [("metadata", it) for it in fields]


def test_names_of_most_kinds_and_of_namespaces():
    assert is_subdomain("a.b")
    assert not is_subdomain("a..b")
    assert is_namespace("a-b")
    assert not is_namespace("a.b")
