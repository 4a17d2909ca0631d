"""A redacted snapshot contains no original name, and has the same findings."""

import gzip
from collections import Counter

import pytest

from policygen.app import judge
from policygen.client import snapshot_file as snapshots
from policygen.client.redaction import Key, redacted
from policygen.core import versions
from policygen.kubernetes.snapshot import Gap
from policygen.lint.registry import RULES
from tests.client.looks import snapshot

TEXT = """
apiVersion: v1
kind: Namespace
metadata: {name: acme-vision, labels: {kubernetes.io/metadata.name: acme-vision}}
---
apiVersion: v1
kind: Node
metadata: {name: rack7-node1, labels: {kubernetes.io/hostname: rack7, pool: a100}}
status: {allocatable: {cpu: "64", memory: 500Gi, nvidia.com/gpu: "8"}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: acme-flavor}
spec: {nodeLabels: {pool: a100}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata:
  name: acme-queue
  managedFields:
    - manager: kubectl-edit
      fieldsV1: {"f:spec": {"f:resourceGroups": {'k:{"name":"acme-flavor"}': {}}}}
spec:
  cohortName: acme-cohort
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: acme-vision}}
  resourceGroups:
    - coveredResources: [cpu, memory, nvidia.com/gpu]
      flavors:
        - name: acme-flavor
          resources:
            - {name: cpu, nominalQuota: "64"}
            - {name: memory, nominalQuota: 500Gi}
            - {name: nvidia.com/gpu, nominalQuota: "8"}
status:
  conditions:
    - {type: Active, status: "False", reason: X, message: "flavor acme-flavor of acme-queue is gone"}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: acme-local, namespace: acme-vision}
spec: {clusterQueue: acme-xyz}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: acme-train
  namespace: acme-vision
  labels: {kueue.x-k8s.io/queue-name: acme-local}
spec:
  template:
    spec:
      priorityClassName: acme-urgent
      runtimeClassName: acme-kata
      volumes: [{name: data, persistentVolumeClaim: {claimName: acme-data}}]
      nodeSelector: {kubernetes.io/hostname: rack7-node1}
      containers:
        - name: acme-main
          image: registry.acme.example/acme/train:v7
          env: [{name: TOKEN, value: acme-secret}]
          resources: {requests: {nvidia.com/gpu: 1}, limits: {nvidia.com/gpu: 1}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: acme-train-1, namespace: acme-vision}
spec: {queueName: acme-local, podSets: [{name: main, count: 2}]}
status:
  admission:
    clusterQueue: acme-queue
    podSetAssignments:
    - name: main
      topologyAssignment:
        levels: [kubernetes.io/hostname]
        slices:
        - {domainCount: 1, valuesPerLevel: [{individual: {prefix: rack, roots: ["7"]}}], podCounts: {universal: 2}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: acme-kube-scheduler, namespace: kube-system, labels: {policygen.dev/set: acme}}
data:
  config.yaml: |
    apiVersion: kubescheduler.config.k8s.io/v1
    kind: KubeSchedulerConfiguration
    leaderElection: {resourceName: acme-kube-scheduler}
    profiles:
      - schedulerName: acme.binpack
      - {schedulerName: "acme.spread", percentageOfNodesToScore: 100}
      - schedulerName: default-scheduler
---
apiVersion: v1
kind: Pod
metadata:
  name: acme-train-x1
  namespace: acme-vision
  labels: {kueue.x-k8s.io/queue-name: acme-local}
  ownerReferences: [{apiVersion: batch/v1, kind: Job, name: acme-train, uid: u, controller: true}]
spec:
  nodeName: rack7-node1
  schedulerName: acme.other
  containers: [{name: acme-main, image: registry.acme.example/acme/train:v7}]
status: {phase: Running}
"""
KEY = Key("k" * 64)


def broken(look):
    against = judge.CheckSettings(versions.DEFAULT, {})
    return Counter((it.rule.name, it.path) for it in judge.judge(look, RULES, against).findings)


def test_no_name_is_left_and_the_same_rules_break(tmp_path):
    gap = Gap("", "Secret", "acme-vision", 'User "acme-bot" in namespace "acme-vision"')
    whole = snapshot(TEXT, context="acme-prod", gaps=(gap,))
    shared = redacted(whole, KEY)
    assert broken(whole) == broken(shared)
    assert ("local-queue-without-cluster-queue", "spec.clusterQueue") in broken(shared)
    snapshots.write(shared, tmp_path / "shared")
    text = gzip.decompress((tmp_path / "shared").read_bytes()).decode()
    assert "default-scheduler" in text
    assert f"schedulerName: {KEY.hide('acme')}.binpack" in text
    for word in ("acme-vision", "acme.binpack", "acme.spread", "acme.other", '"acme"',  "rack7", "acme-flavor", "acme-queue", "acme-cohort", "acme-local",
                 "acme-xyz", "acme-train", "acme-urgent", "acme-main", "acme-prod", "acme-secret",
                 "registry.acme", "acme-bot"):  # fmt: skip
        assert word not in text, word
    assert "nvidia.com/gpu" in text


def test_a_name_is_the_same_hash_everywhere_and_another_with_another_key():
    shared = redacted(snapshot(TEXT), KEY)
    by_kind = {it.kind: it for it in shared.objects}
    flavor = by_kind["ResourceFlavor"].name
    queue = by_kind["ClusterQueue"]
    assert queue.data["spec"]["resourceGroups"][0]["flavors"][0]["name"] == flavor
    assert flavor in queue.data["status"]["conditions"][0]["message"]
    assert shared.pods[0].owner.name == by_kind["Job"].name
    assert shared.pods[0].node == by_kind["Node"].name
    (assignment,) = by_kind["Workload"].data["status"]["admission"]["podSetAssignments"]
    host = by_kind["Node"].labels["kubernetes.io/hostname"]
    assert assignment["topologyAssignment"]["domains"] == [{"values": [host], "count": 2}]
    other = redacted(snapshot(TEXT), Key.new())
    assert {it.name for it in other.objects}.isdisjoint(it.name for it in shared.objects)


def test_everybodys_names_and_those_of_resources_stay():
    text = TEXT.replace("acme-vision", "kube-system").replace("acme-local", "gpu")
    shared = redacted(snapshot(text), KEY)
    assert {it.namespace for it in shared.objects if it.namespace} == {"kube-system"}
    assert "gpu" in {it.name for it in shared.objects}


def test_a_name_that_only_begins_as_the_systems_do_is_hidden():
    names = ("systems-biology", "system-of-ours", "systemd")
    shared = [redacted(snapshot(TEXT.replace("acme-vision", it)), KEY) for it in names]
    spaces = [{it.name for it in look.objects if it.kind == "Namespace"} for look in shared]
    assert spaces == [{KEY.hide("systems-biology")}, {"system-of-ours"}, {KEY.hide("systemd")}]


@pytest.mark.parametrize(
    "reason, told",
    [
        (
            '403: pods is forbidden: User "x@acme" cannot list: RBAC: clusterrole "y" not found',
            "403",
        ),
        ("acme-config: 500: acme", "acme-config: 500"),
        ("Failed to resolve 'api.acme.example'", 'Failed to resolve "..."'),
        ("no answer within 60 s", "no answer within 60 s"),
    ],
)
def test_of_why_something_was_not_read_no_words_of_the_server_are_left(reason, told):
    shared = redacted(snapshot(TEXT, gaps=(Gap("", "Pod", "", reason),)), KEY)
    assert [gap.reason for gap in shared.seen.gaps] == [told]


def test_what_was_hidden_once_stays_so_with_the_same_key():
    """Otherwise a label with the name of a removed flavor would reveal its hidden name."""
    key = Key.new()
    first = redacted(snapshot(TEXT), key)
    gone = TEXT.replace("acme-flavor", "another").replace("pool: a100", "pool: acme-flavor")
    second = redacted(snapshot(gone), key)
    old = next(it for it in first.objects if it.kind == "ResourceFlavor").name
    (node,) = (it for it in second.objects if it.kind == "Node")
    assert node.data["metadata"]["labels"]["pool"] == old == key.hide("acme-flavor")
    assert first.seen.context == second.seen.context
    assert key.names[old] == "acme-flavor"
    assert key.names[first.seen.context] == "east"
    assert first.seen.key == second.seen.key != Key.new().name


def test_words_of_annotations_are_names_too():
    note = "annotations: {note: 'as acme-xyz was'}, name: acme-queue"
    text = TEXT.replace(
        "metadata:\n  name: acme-queue",
        f"metadata:\n  {note.replace(', name', chr(10) + '  name')}",
    )
    assert "acme-xyz" not in str([it.data for it in redacted(snapshot(text), KEY).objects])
