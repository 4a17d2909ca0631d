"""Nodes that the volumes of a pod can be attached to; tests/servers/proofs compares kube-scheduler."""

import pytest

from policygen.kubernetes.node_filters import VolumeFilter, misses
from policygen.kubernetes.node_groups import Node, NodeSet
from policygen.kubernetes.node_index import NodeIndex
from policygen.kubernetes.scheduler_reasons import first_reasons
from policygen.lint.core.pod_demands import pod_demands
from policygen.lint.core.rules.pod_fits_no_node import RULE
from tests.objects import facts

ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
BETA = "failure-domain.beta.kubernetes.io/zone"
TEXT = """
{apiVersion: v1, kind: Node, metadata: {name: other}, status: {allocatable: {cpu: 1}}}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: disk, labels: {%(labels)s}}
spec: {storageClassName: ssd, %(volume)s}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: b}
spec: {%(claim)s}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: zonal}
provisioner: %(provisioner)s
volumeBindingMode: %(mode)s
allowedTopologies: [{matchLabelExpressions: [{key: %(zone)s, values: [a, c]}]}]
---
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: b}
spec:
  volumes: [{name: data, %(source)s}]
  containers: [{name: main, image: a, resources: {requests: {cpu: 1}}}]
"""
AFFINITY = "nodeAffinity: {required: {nodeSelectorTerms: [{%s}]}}"
IN_A = AFFINITY % f"matchExpressions: [{{key: {ZONE}, operator: In, values: [a]}}]"
USUAL = {
    "labels": "",
    "volume": "",
    "claim": "volumeName: disk",
    "provisioner": "disk.example.com",
    "mode": "WaitForFirstConsumer",
    "zone": ZONE,
    "source": "persistentVolumeClaim: {claimName: data}",
}
NODES = {
    "a": {ZONE: "a", REGION: "r"},
    "b": {ZONE: "b", REGION: "r"},
    "old": {BETA: "a"},
    "none": {},
}


def given(**texts):
    return facts(TEXT % {**USUAL, **texts})


def demand_of(**texts):
    (it,) = pod_demands(given(**texts))
    return it.ways[0].demand


def refusing(**texts):
    """The nodes that refuse the pod, with the words of kube-scheduler."""
    own = demand_of(**texts)
    nodes = NodeSet(Node(name, labels) for name, labels in NODES.items())
    found = {
        group.nodes[0].name: first_reasons(missed)
        for group in nodes.groups(own.keys | {ZONE, BETA})
        if (missed := misses(own, group))
    }
    takers = {node.name for _, node in NodeIndex(nodes).entries(NodeIndex(nodes).takers(own))}
    assert takers == NODES.keys() - found.keys()
    return found


@pytest.mark.parametrize(
    ("texts", "filter_", "refuse"),
    [
        ({}, None, ()),
        ({"volume": IN_A}, VolumeFilter.AFFINITY, ("b", "old", "none")),
        ({"volume": AFFINITY % ""}, VolumeFilter.AFFINITY, ("a", "b", "old", "none")),
        ({"volume": AFFINITY % "matchFields: [{key: metadata.name, operator: In, values: [x]}]"}, None, ()),
        ({"labels": f"{ZONE}: a"}, VolumeFilter.ZONE, ("b", "old")),
        ({"labels": f"{ZONE}: b__c"}, VolumeFilter.ZONE, ("a", "old")),
        ({"labels": f"{BETA}: a"}, VolumeFilter.ZONE, ("b",)),
        ({"labels": f"{ZONE}: a__"}, None, ()),
        ({"claim": "volumeName: missing", "volume": IN_A}, None, ()),
        ({"claim": "storageClassName: zonal"}, VolumeFilter.TOPOLOGY, ("b", "old", "none")),
        ({"claim": "storageClassName: zonal, volumeName: missing"}, None, ()),
        ({"claim": "storageClassName: zonal", "mode": "Immediate"}, None, ()),
        ({"claim": "storageClassName: zonal", "provisioner": "kubernetes.io/no-provisioner"}, None, ()),
        ({"claim": "storageClassName: missing"}, None, ()),
        ({"source": "persistentVolumeClaim: {claimName: missing}", "volume": IN_A}, None, ()),
        ({"source": "ephemeral: {volumeClaimTemplate: {spec: {storageClassName: zonal}}}"}, VolumeFilter.TOPOLOGY, ("b", "old", "none")),
        ({"source": "emptyDir: {}", "volume": IN_A}, None, ()),
    ],
)  # fmt: skip
def test_nodes_that_refuse_a_volume(texts, filter_, refuse):
    words = (filter_.value,) if filter_ else ()
    assert refusing(**texts) == dict.fromkeys(refuse, words)


@pytest.mark.parametrize(("claim_ref", "count"), [("claimRef: {name: x}", 1), ("", 0)])
def test_a_volume_that_exists_can_be_bound_instead(claim_ref, count):
    """A volume of the class in another zone, unless another claim has it."""
    text = TEXT.replace("storageClassName: ssd", "storageClassName: zonal")
    data = {**USUAL, "claim": "storageClassName: zonal", "volume": claim_ref}
    (it,) = pod_demands(facts(text % data))
    assert len(it.ways[0].demand.volumes) == count


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (
            {"volume": IN_A.replace(ZONE, "rack")},
            (
                "all nodes lack label rack, which PersistentVolume disk requires; mount another claim, "
                "or add nodes that match the volume"
            ),
        ),
        (
            {"claim": "storageClassName: zonal", "zone": "rack"},
            (
                "all nodes lack label rack, which StorageClass zonal requires; write another "
                "storageClassName, or add nodes that match the allowedTopologies of the class"
            ),
        ),
        (
            {"volume": AFFINITY % ""},
            (
                "all nodes match no term of the node affinity of PersistentVolume disk; mount another "
                "claim, or add nodes that match the volume"
            ),
        ),
    ],
)
def test_messages(texts, message):
    (hit,) = RULE.check(given(**texts))
    assert hit.message == f"no node takes the pods of Pod b/p: {message}"
