"""Which fields of listed pods are kept, and which are never kept."""

import json

import msgspec
import pytest

from policygen.client import pod_lists
from policygen.client.pod_lists import ListedPod, Pods
from tests.client.secrets_of_pods import SECRET, pod_spec


def listed(**fields):
    data = {
        "metadata": {
            "name": "p",
            "namespace": "n",
            "creationTimestamp": "2026-11-21T03:00:00Z",
            "labels": {"kueue.x-k8s.io/queue-name": "q", "app": "x"},
            "annotations": {
                "kubectl.kubernetes.io/last-applied-configuration": SECRET,
                "scheduling.k8s.io/group-name": "g",
            },
            **fields.pop("metadata", {}),
        },
        "spec": {**pod_spec(), "nodeName": "node-1", "schedulingGates": [{"name": "g"}]},
        "status": {"phase": "Pending", **fields.pop("status", {})},
    }
    return msgspec.json.decode(json.dumps(data).encode(), type=ListedPod)


def test_a_pods_row_has_what_rules_read():
    status = {
        "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}],
        "containerStatuses": [{"state": {"waiting": {"reason": "ImagePullBackOff"}}}],
    }
    it = Pods().row(listed(status=status))
    assert str(it) == "Pod n/p"
    assert (it.node, it.phase, it.gates) == ("node-1", "Pending", ("g",))
    assert (it.waiting, it.unscheduled) == ("ImagePullBackOff", "Unschedulable")
    assert it.labels == {"kueue.x-k8s.io/queue-name": "q"}
    assert it.annotations == {"scheduling.k8s.io/group-name": "g"}
    assert it.created.isoformat() == "2026-11-21T03:00:00+00:00"
    assert it.spec.requests == {"nvidia.com/gpu": 1}
    assert SECRET not in str(msgspec.to_builtins(it, enc_hook=str))


def test_pods_with_equal_requests_share_them_on_any_node():
    rows = Pods()
    one, other = (rows.row(listed(metadata={"name": name})) for name in "ab")
    assert one.spec is other.spec


def owner(api_version, kind):
    return {"ownerReferences": [{"apiVersion": api_version, "kind": kind, "name": "o", "uid": "u", "controller": True}]}  # fmt: skip


@pytest.mark.parametrize(
    "fields, alone",
    [
        ({}, True),
        ({"metadata": owner("batch/v1", "Job")}, False),
        ({"metadata": owner("apps/v1", "ReplicaSet")}, False),
        ({"metadata": owner("v1", "Node")}, False),
        ({"metadata": owner("acme.example/v1", "Notebook")}, True),
        ({"status": {"phase": "Succeeded"}}, False),
    ],
)
def test_a_pod_without_a_known_owner_is_an_object_too(fields, alone):
    it = listed(**fields)
    data = pod_lists.unowned(it, Pods().row(it))
    assert (data is not None) == alone
    if data:
        assert data["spec"]["nodeSelector"] == {"env": "prod"}
        assert SECRET not in json.dumps(data)
