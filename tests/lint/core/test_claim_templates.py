"""Claims of the volumes of pods that API servers refuse; `tests/servers/container_families.py` asks a server for more."""

import pytest

from tests.lint.core.test_field_pairs import pod

SPEC = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
CLONED = {"kind": "PersistentVolumeClaim", "name": "a"}
SNAPSHOT = {"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": "a"}


def claim(metadata=None, **spec):
    made = {"metadata": metadata or {}, "spec": SPEC | spec}
    return pod({"volumes": [{"name": "data", "ephemeral": {"volumeClaimTemplate": made}}]})


@pytest.mark.parametrize(
    ("spec", "path", "words"),
    [
        ({"resources": {"requests": {"storage": "-1"}}}, (), "requests no storage"),
        ({"resources": {"requests": {}}}, (), "requests no storage"),
        ({"accessModes": ["ReadWriteOnce", "ReadWriteOncePod"]}, ("spec", "accessModes"), "keep one of them"),
        ({"selector": {"matchLabels": {"a b": ""}}}, ("spec", "selector", "matchLabels", "a b"), "not a valid label key"),
        ({"selector": {"matchExpressions": [{"key": "a", "operator": "in"}]}}, ("spec", "selector", "matchExpressions", 0, "operator"), 'did you mean "In"?'),
        ({"dataSource": {"kind": "VolumeSnapshot", "name": "a"}}, ("spec", "dataSource"), "write apiGroup, or kind"),
        ({"dataSourceRef": SNAPSHOT | {"apiGroup": "a b"}}, ("spec", "dataSourceRef", "apiGroup"), 'apiGroup "a b"'),
        ({"dataSource": CLONED, "dataSourceRef": SNAPSHOT}, ("spec", "dataSource"), "remove dataSource"),
    ],
)  # fmt: skip
def test_claims_that_are_refused(spec, path, words):
    ((at, message),) = claim(**spec)
    assert at == ("volumes", 0, "ephemeral", "volumeClaimTemplate", *path)
    assert words in message


def test_a_claim_has_only_labels_and_annotations():
    ((at, message),) = claim({"namespace": "a", "labels": {"a": "b"}})
    assert at[-2:] == ("metadata", "namespace")
    assert "remove namespace" in message


@pytest.mark.parametrize(
    "spec",
    [
        {"dataSource": CLONED, "dataSourceRef": CLONED},
        {"dataSource": SNAPSHOT},
        {"selector": {"matchLabels": {"a": "b"}}},
        {"resources": {"requests": {"storage": "1Gi"}, "limits": {"storage": "1Mi"}}},
    ],
)
def test_claims_that_are_not(spec):
    assert claim(**spec) == []
