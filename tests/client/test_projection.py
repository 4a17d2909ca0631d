"""Which fields of listed objects are kept, and which are never kept."""

import json
import random

import pytest

from policygen.client import projection
from policygen.kubernetes.snapshot import NODE, GroupKind
from policygen.kubernetes.workloads import APP_WRAPPER, TEMPLATES
from tests.client.secrets_of_pods import SECRET, pod_spec

COPIES = (
    "kubectl.kubernetes.io/last-applied-configuration",
    "objectset.rio.cattle.io/applied",
    "kapp.k14s.io/original",
    "kapp.k14s.io/original-diff-full",
    "banzaicloud.com/last-applied",
    "kopf.zalando.org/last-handled-configuration",
)


def at(way, value):
    """A value below the path of a Shape; a "*" in the path becomes a list with one item."""
    for step in reversed(way):
        value = [value] if step == "*" else {step: value}
    return value


def merged(one, other):
    if isinstance(one, dict) and isinstance(other, dict):
        return {key: merged(one.get(key), other.get(key)) for key in one.keys() | other.keys()}
    return other if one is None else one


@pytest.mark.parametrize("group, kind", sorted(set(TEMPLATES) - {("", "Pod")}), ids=str)
def test_no_value_of_an_environment_is_kept_of_anything_that_makes_pods(group, kind):
    copies = dict.fromkeys(COPIES, SECRET)
    template = {
        "metadata": {"labels": {"env": "prod"}, "annotations": dict(copies)},
        "spec": pod_spec(),
    }
    data = {
        "apiVersion": f"{group}/v1" if group else "v1",
        "kind": kind,
        "metadata": {
            "name": "x",
            "labels": {"env": "prod"},
            "annotations": {**copies, "kept": "yes"},
            "managedFields": [{"manager": SECRET}],
        },
        "spec": {
            "entrypoint": SECRET,
            "runtimeEnvYAML": SECRET,
            "redis": {"redisPassword": {"value": SECRET}},
            "selector": {"env": "prod"},
        },
    }
    if kind == APP_WRAPPER:
        secret = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "s"},
            "stringData": {"a": SECRET},
        }
        job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"annotations": dict(copies)}}
        job["spec"] = {"template": template}
        data["spec"]["components"] = [{"template": secret}, {"template": job}]
    for shape in TEMPLATES[group, kind]:
        data = merged(data, at(shape.templates, template))
    kept = projection.projected(GroupKind(group, kind), json.loads(json.dumps(data)))
    text = json.dumps(kept)
    assert SECRET not in text
    assert '"MASTER_ADDR"' in text  # rules read the names
    assert text.count('"env": "prod"') >= 3  # a label that is called so
    assert kept["metadata"]["annotations"] == {"kept": "yes"}


def test_of_storage_only_what_rules_read_is_kept():
    """No source of a volume, no parameters of a class, and no other source of a pod's volume."""
    metadata = {"name": "x", "annotations": {"kubectl.kubernetes.io/last-applied": SECRET}}
    volume = {"csi": {"volumeHandle": SECRET}, "nodeAffinity": {}, "claimRef": {"name": "c"}}
    class_ = {"parameters": {"key": SECRET}, "provisioner": "p", "allowedTopologies": []}
    for group, kind, data in (
        ("", "PersistentVolume", {"spec": volume}),
        ("", "PersistentVolumeClaim", {"spec": {"volumeName": "v", "dataSource": SECRET}}),
        ("storage.k8s.io", "StorageClass", class_),
    ):
        kept = projection.projected(GroupKind(group, kind), {"metadata": dict(metadata), **data})
        assert SECRET not in json.dumps(kept)
        assert kept.keys() >= {"metadata", *data} - {"parameters"}
        if kind == "PersistentVolume":  # the name of a claim that was deleted is in no other object
            assert kept["spec"]["claimRef"] == {"kind": "PersistentVolumeClaim"}
    template = {"spec": {"storageClassName": "s", "dataSource": SECRET}}
    volumes = [
        {"name": "a", "persistentVolumeClaim": {"claimName": "c", "readOnly": True}},
        {"name": "b", "ephemeral": {"volumeClaimTemplate": template}},
        {"name": "c", "hostPath": {"path": SECRET}},
    ]
    spec = {"template": {"spec": {"containers": [], "volumes": volumes}}}
    data = {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec}
    kept = projection.projected(GroupKind("batch", "Job"), data)
    assert kept["spec"]["template"]["spec"]["volumes"] == [
        {"name": "a", "persistentVolumeClaim": {"claimName": "c"}},
        {"name": "b", "ephemeral": {"volumeClaimTemplate": {"spec": {"storageClassName": "s"}}}},
    ]


def test_of_a_controllers_command_line_its_feature_gates_are_kept():
    words = {
        "command": ["kueue", SECRET],
        "args": ["--x", SECRET, f"--feature-gates=A=true,{SECRET}"],
    }
    images = ("registry.example/kueue/kueue:v0.19.2", "train:v1")
    containers = [{"name": f"c{i}", "image": image, **words} for i, image in enumerate(images)]
    data = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "x"},
        "spec": {"template": {"spec": {"containers": containers}}},
    }
    kept = projection.projected(GroupKind("apps", "Deployment"), data)
    controller, other = kept["spec"]["template"]["spec"]["containers"]
    assert controller == {"name": "c0", "image": images[0], "args": ["--feature-gates=A=true"]}
    assert other == {"name": "c1", "image": images[1]}


def test_rendered_objects_are_complete_except_fields_of_others():
    labels = {"app.kubernetes.io/managed-by": "policygen"}
    secrets = {
        "env": [{"name": "A", "value": SECRET}],
        "envFrom": [{"secretRef": {"name": SECRET}}],
    }
    data = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "x", "labels": labels, "managedFields": [{"manager": "us"}]},
        "spec": {
            "template": {
                "spec": {
                    "containers": [
                        {"name": "kube-scheduler", "command": ["kube-scheduler"]} | secrets,
                        {"name": "sidecar", "command": [SECRET], "args": [SECRET]} | secrets,
                    ],
                    "initContainers": [{"name": "i", "command": [SECRET]} | secrets],
                    "ephemeralContainers": [{"name": "e", "args": [SECRET]} | secrets],
                }
            }
        },
    }
    kept = projection.projected(GroupKind("apps", "Deployment"), data)
    one, other = kept["spec"]["template"]["spec"]["containers"]
    assert one == {"name": "kube-scheduler", "command": ["kube-scheduler"], "env": [{"name": "A"}]}
    assert other == {"name": "sidecar", "env": [{"name": "A"}]}
    assert SECRET not in json.dumps(kept)
    assert kept["metadata"]["managedFields"]


def test_policy_objects_stay_complete():
    data = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ClusterQueue",
        "metadata": {"name": "q", "managedFields": [{"manager": "kubectl-edit"}]},
        "spec": {"anything": {"deep": [1, 2]}},
        "status": {"conditions": [{"type": "Active"}]},
    }
    kept = projection.projected(
        GroupKind("kueue.x-k8s.io", "ClusterQueue"), json.loads(json.dumps(data))
    )
    assert kept == data


WRONG = [None, 5, "", "x", [], [None], [1], ["x"], [{}], {}, {"a": None}, {"name": []}, True]


@pytest.mark.parametrize("seed", range(4))
def test_whatever_a_server_sends_is_kept_or_dropped_and_no_crash(seed):
    draw = random.Random(seed)
    kinds = sorted({*TEMPLATES, NODE, projection.WORKLOAD} - {("", "Pod")})
    for _ in range(300):
        kind = GroupKind(*draw.choice(kinds))
        labels = {"app.kubernetes.io/managed-by": draw.choice(["policygen", "x"])}
        template = {"metadata": {"labels": {}}, "spec": pod_spec()}
        data = {
            "apiVersion": f"{kind.group}/v1" if kind.group else "v1",
            "kind": kind.kind,
            "metadata": {"name": "x", "labels": labels, "annotations": {}},
            "spec": {"podSets": [{"name": "a", "template": template}], "taints": [{}]},
            "status": {"conditions": [{"type": "Ready"}], "admission": {"podSetAssignments": [{}]}},
        }
        for shape in TEMPLATES.get(kind, ()):
            data = merged(data, at(shape.templates, template))
        data = json.loads(json.dumps(data))
        for _ in range(draw.randint(1, 2)):
            *above, last = draw.choice(
                [way for way in ways(data) if way[0] not in {"kind", "apiVersion"}]
            )
            inner = data
            for step in above:
                inner = inner[step]
            inner[last] = json.loads(json.dumps(draw.choice(WRONG)))
        assert isinstance(projection.projected(kind, data), dict)


def ways(data, way=()):
    """The paths of all values in a document."""
    if isinstance(data, dict | list):
        for step in list(data) if isinstance(data, dict) else range(len(data)):
            yield (*way, step)
            yield from ways(data[step], (*way, step))
