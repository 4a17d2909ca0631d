"""Claims that cannot grow, and claims of a StatefulSet; `tests/servers/test_updates.py` asks real servers."""

import pytest
import yaml

from tests.lint.test_change_refused import messages, run

CLASSES = """\
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: grows}
provisioner: a.b/c
allowVolumeExpansion: true
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fixed}
provisioner: a.b/c
"""
CLAIM = """\
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: ml}
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: grows
  resources: {requests: {storage: 10Gi}}
status: {phase: Bound, capacity: {storage: 10Gi}}
"""
SET = """\
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: ml}
spec:
  serviceName: db
  selector: {matchLabels: {app: db}}
  template: {metadata: {labels: {app: db}}, spec: {containers: [{name: a, image: b}]}}
  volumeClaimTemplates:
  - metadata: {name: data, annotations: {secret: x}}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 10Gi}}}
"""
FIXED = CLAIM.replace(": grows", ": fixed")
PLAIN = CLAIM.replace(": grows", ': ""')
PENDING = CLAIM.replace(": Bound", ": Pending")
FAILED = CLAIM.replace("10Gi}}}", "10Gi}}").replace(
    "requests: {storage: 10Gi", "requests: {storage: 20Gi"
)


@pytest.mark.parametrize(
    ("held", "old", "new", "expected"),
    [
        (CLAIM, "storage: 10Gi", "storage: 20Gi", ""),
        (CLAIM, "storage: 10Gi", "storage: 10240Mi", ""),
        (CLAIM, "storage: 10Gi", "storage: 5Gi", "can only grow; keep the old value"),
        (FAILED, "storage: 20Gi", "storage: 15Gi", ""),  # the volume did not become larger
        (FAILED, "storage: 20Gi", "storage: 10Gi", "can only grow; keep the old value"),
        (
            FIXED,
            "storage: 10Gi",
            "storage: 20Gi",
            "StorageClass fixed does not have allowVolumeExp",
        ),
        (PLAIN, "storage: 10Gi", "storage: 20Gi", "a claim without a StorageClass does not grow"),
        (PENDING, "storage: 10Gi", "storage: 20Gi", "only after the claim is bound"),
        (CLAIM, "storage: 10Gi", "storage: 10Gi, iops: 1", "only the storage of a Persist"),
        (CLAIM, "ReadWriteOnce", "ReadWriteMany", "accessModes of a PersistentVolumeClaim is imm"),
        (SET, "storage: 10Gi", "storage: 20Gi", "delete the StatefulSet with --cascade=orphan"),
        (SET, "name: data,", "name: logs,", "volumeClaimTemplates of a StatefulSet is immutable"),
        (SET, "secret: x", "secret: y", ""),  # a snapshot does not keep it
    ],
)
def test_with_a_snapshot(tmp_path, held, old, new, expected):
    text = held.partition("status:")[0]
    found = messages(run(tmp_path, f"{held}{CLASSES}", text.replace(old, new)))
    assert [expected in it for it in found] == [True] * bool(expected)


def test_a_class_that_is_not_known_is_not_judged(tmp_path):
    text = FIXED.partition("status:")[0].replace("10Gi", "20Gi")
    assert messages(run(tmp_path, FIXED, text)) == []


def test_fields_of_a_class(tmp_path):
    _, grows, fixed = yaml.safe_load_all(f"a: b\n{CLASSES}")
    assert messages(run(tmp_path, CLASSES, CLASSES.replace("a.b/c", "a.b/d")))[0].startswith(
        f"StorageClass {grows['metadata']['name']} on cluster"
    )
    assert "allowVolumeExpansion" not in fixed
    assert (
        messages(run(tmp_path, CLASSES, CLASSES.replace("Expansion: true", "Expansion: false")))
        == []
    )
