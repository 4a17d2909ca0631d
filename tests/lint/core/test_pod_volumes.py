"""Volumes and mounts that API servers refuse; `tests/servers/container_families.py` asks a server for more."""

import pytest

from tests.lint.core.test_field_pairs import pod

CLAIM = {"name": "disk", "persistentVolumeClaim": {"claimName": "a"}}
LABELS = {"path": "a", "fieldRef": {"fieldPath": "metadata.labels"}}
CLAIMED = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
MOUNT = {"name": "data", "mountPath": "/a"}


def volume(**source):
    return pod({"volumes": [{"name": "data", **source}]})


def container(**fields):
    return pod({"volumes": [{"name": "data", "emptyDir": {}}, CLAIM], "containers": [{"name": "main", **fields}]})  # fmt: skip


@pytest.mark.parametrize(
    ("source", "path", "words"),
    [
        ({"secret": {"defaultMode": 420}}, ("secret",), "write secret.secretName"),
        ({"configMap": {"name": "a", "items": [{"key": "a", "path": "..a"}]}}, ("configMap", "items", 0, "path"), 'does not begin with ".."'),
        ({"downwardAPI": {"items": [{"path": "a"}]}}, ("downwardAPI", "items", 0), "a file without a source"),
        ({"downwardAPI": {"items": [LABELS | {"resourceFieldRef": {"resource": "limits.cpu", "containerName": "a"}}]}}, ("downwardAPI", "items", 0), "fieldRef and resourceFieldRef"),
        ({"downwardAPI": {"items": [{"path": "a", "fieldRef": {"fieldPath": "spec.nodeName"}}]}}, ("downwardAPI", "items", 0, "fieldRef", "fieldPath"), '"spec.nodeName", which is refused'),
        ({"downwardAPI": {"items": [{"path": "a", "resourceFieldRef": {"resource": "limits.cpu"}}]}}, ("downwardAPI", "items", 0, "resourceFieldRef"), "without containerName"),
        ({"projected": {"sources": [{"secret": {"name": "a"}, "configMap": {"name": "b"}}]}}, ("projected", "sources", 0), "one source of configMap and secret"),
        ({"projected": {"sources": [{"downwardAPI": {"items": [LABELS]}}, {"secret": {"name": "a", "items": [{"key": "b", "path": "a"}]}}]}}, ("projected", "sources", 1, "secret", "items", 0, "path"), 'two files at "a"'),
        ({"downwardAPI": {"items": [LABELS | {"path": "../a"}]}}, ("downwardAPI", "items", 0, "path"), 'does not contain ".."'),
        ({"projected": {"sources": [{"downwardAPI": {"items": [LABELS | {"path": ""}]}}]}}, ("projected", "sources", 0, "downwardAPI", "items", 0, "path"), 'path "", which'),
        ({"downwardAPI": {"items": [LABELS | {"mode": 512}]}}, ("downwardAPI", "items", 0, "mode"), "write 0 to 511"),
        ({"ephemeral": {"volumeClaimTemplate": {"metadata": {"namespace": "a"}, "spec": CLAIMED}}}, ("ephemeral", "volumeClaimTemplate", "metadata", "namespace"), "remove namespace"),
    ],
)  # fmt: skip
def test_volumes_that_are_refused(source, path, words):
    ((at, message),) = volume(**source)
    assert at == ("volumes", 0, *path)
    assert message.startswith("Pod p has volume data with")
    assert words in message


def test_volumes_that_are_not():
    assert volume(ephemeral=None, csi=None, emptyDir={}) == []
    assert volume(downwardAPI={"items": [LABELS]}) == []
    assert volume(projected={"sources": [{"downwardAPI": {"items": [LABELS]}}, {"secret": {"name": "a"}}]}) == []  # fmt: skip
    assert volume(configMap={"name": "a", "items": [{"key": "a", "path": "a/..b"}]}) == []


def test_two_volumes_of_one_name_are_refused():
    ((at, message),) = pod({"volumes": [CLAIM, CLAIM]})
    assert at == ("volumes", 1, "name")
    assert 'two volumes named "disk"' in message


@pytest.mark.parametrize(
    ("mount", "field", "words"),
    [
        ({"subPath": "../a"}, "subPath", 'does not contain ".."'),
        ({"subPathExpr": "/a"}, "subPathExpr", 'does not begin with "/"'),
        ({"subPath": "a", "subPathExpr": "b"}, "subPathExpr", "subPath and subPathExpr"),
        ({"mountPropagation": "Bidirectional"}, "mountPropagation", "without privileged: true"),
        ({"recursiveReadOnly": "Enabled"}, "recursiveReadOnly", "write readOnly: true"),
        ({"recursiveReadOnly": "Enabled", "readOnly": True, "mountPropagation": "HostToContainer"}, "recursiveReadOnly", "HostToContainer"),
    ],
)  # fmt: skip
def test_mounts_that_are_refused(mount, field, words):
    ((at, message),) = container(volumeMounts=[MOUNT | mount])
    assert at == ("containers", 0, "volumeMounts", 0, field)
    assert words in message


@pytest.mark.parametrize(
    ("devices", "path", "words"),
    [
        ([{"name": "data", "devicePath": "/a"}], (0, "name"), "is not a PersistentVolumeClaim"),
        ([{"name": "gone", "devicePath": "/a"}], (0, "name"), "its pod does not have"),
        ([{"name": "disk", "devicePath": it} for it in ("/a", "/b")], (1, "name"), "two volumeDevices"),
    ],
)  # fmt: skip
def test_devices_that_are_refused(devices, path, words):
    ((at, message),) = container(volumeDevices=devices)
    assert at == ("containers", 0, "volumeDevices", *path)
    assert words in message


def test_a_volume_is_mounted_or_a_device():
    device = {"name": "disk", "devicePath": "/d"}
    ((at, message),) = container(
        volumeMounts=[{"name": "disk", "mountPath": "/a"}], volumeDevices=[device]
    )
    assert at == ("containers", 0, "volumeMounts", 0, "name")
    assert "in volumeMounts and in volumeDevices" in message
    assert container(volumeMounts=[MOUNT | {"readOnly": True}], volumeDevices=[device]) == []


def test_a_device_without_a_valid_name_is_no_fault_of_a_mount():
    devices = [{"name": [], "devicePath": {}}]
    assert container(volumeMounts=[MOUNT], volumeDevices=devices) == []


CLAIM_SPEC = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ({}, "without volumeClaimTemplate"),
        ({"spec": CLAIM_SPEC | {"accessModes": None}}, "without accessModes"),
        ({"spec": CLAIM_SPEC | {"accessModes": ["ReadWriteOncePod", "ReadWriteOnce"]}}, "keep one"),
        ({"spec": CLAIM_SPEC | {"resources": {}}}, "requests no storage"),
        ({"spec": CLAIM_SPEC, "metadata": {"labels": {"a b": "c"}}}, "label key"),
        ({"spec": CLAIM_SPEC, "metadata": {"annotations": {"a b": "c"}}}, "annotation key"),
    ],
)
def test_claims_of_volumes_that_are_refused(template, words):
    ((_, message),) = volume(ephemeral={"volumeClaimTemplate": template})
    assert words in message
    assert volume(ephemeral={"volumeClaimTemplate": {"spec": CLAIM_SPEC}}) == []


def test_words_of_a_mount():
    ((at, message),) = container(volumeMounts=[MOUNT | {"recursiveReadOnly": "enabled"}])
    assert at[-1] == "recursiveReadOnly"
    assert "write Disabled, Enabled or IfPossible" in message
