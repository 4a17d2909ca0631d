"""`policygen adopt --context` on the real API server, with queues that were written by hand."""

import json
from pathlib import Path

import pytest
import yaml

from tests.servers import kueue
from tests.servers.bench import CONTEXT, TOKEN
from tests.servers.draws import example
from tests.servers.nodes import Shape
from tests.servers.proxy import Proxy
from tests.servers.test_live import apply_example, joined, split, token

DOCS = Path(__file__).parents[2] / "docs" / "adopt" / "queues.yaml"
VOLCANO = """
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: batch}
spec:
  reclaimable: true
  deserved: {cpu: 16, memory: 64Gi, amd.com/gpu: 2}
  capability: {cpu: 32, memory: 128Gi, amd.com/gpu: 4}
"""


FOREIGN = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: gpu-a, labels: {owner: infra}}
spec: {nodeLabels: {pool: gpu-a}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: blue}
spec:
  cohortName: all
  stopPolicy: Hold
  namespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: In, values: [shared]}]}
  resourceGroups:
    - coveredResources: [nvidia.com/gpu]
      flavors: [{name: gpu-a, resources: [{name: nvidia.com/gpu, nominalQuota: 16, borrowingLimit: 64}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: green}
spec:
  cohortName: all
  namespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: In, values: [shared, green]}]}
  resourceGroups:
    - coveredResources: [nvidia.com/gpu]
      flavors: [{name: gpu-a, resources: [{name: nvidia.com/gpu, nominalQuota: 16, lendingLimit: 4}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: green, namespace: shared}
spec: {clusterQueue: green}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: no-gpus, namespace: web}
spec: {hard: {requests.nvidia.com/gpu: 0, requests.cpu: 20}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: research}
spec: {reclaimable: true, deserved: {nvidia.com/gpu: 2}, capability: {nvidia.com/gpu: 4}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: students}
spec: {reclaimable: false, weight: 4, capability: {nvidia.com/gpu: 8}}
"""
JOB = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {
        "name": "train",
        "namespace": "shared",
        "labels": {"kueue.x-k8s.io/queue-name": "green"},
    },
    "spec": {
        "suspend": True,
        "template": {
            "spec": {
                "restartPolicy": "Never",
                "priorityClassName": "",
                "containers": [
                    {
                        "name": "main",
                        "image": "registry.example/train:1",
                        "resources": {"limits": {"nvidia.com/gpu": 8}},
                    }
                ],
            }
        },
    },
}


@pytest.fixture
def policygen(bench, cluster, tmp_path, run):  # noqa: ARG001 - a clean one
    """Run a command, as the admin or with another token: exit code, standard output and standard error."""
    with Proxy(bench.server, bench.ca).running() as running:

        def call(*arguments, user=TOKEN):
            kubeconfig = running.kubeconfig(tmp_path / "kubeconfig", {"token": user})
            return run(*arguments, "--kubeconfig", kubeconfig)

        yield call


def test_adopted_queues_differ_only_in_what_the_list_names(cluster, policygen, tmp_path):
    """lint compares the cluster with the adopted spec; the list names each object that it reports."""
    hand = [it for it in DOCS.read_text("utf-8").split("---\n") if "kind: Node" not in it]
    cluster.apply("---\n".join(hand) + VOLCANO)
    labels = {"cloud.google.com/gke-accelerator": "nvidia-tesla-a100"}
    cluster.add_nodes(Shape(labels=labels), 2)
    folder = tmp_path / "spec"
    code, _, listed = policygen("adopt", "--context", CONTEXT, "-o", folder)
    assert code == 1, listed
    spec = "".join(it.read_text("utf-8") for it in folder.iterdir())
    assert "name: vision" in spec
    assert "name: batch" in spec
    assert "nodes: 2" in spec
    assert _unlisted(policygen, folder, listed) == []


def _unlisted(policygen, folder, listed):
    """The objects in which lint finds differences from the spec that the list of adopt does not name."""
    _, out, _ = policygen("lint", "--context", CONTEXT, folder, "-f", "json")
    found = [
        it["object"]
        for it in json.loads(out)["findings"]
        if it["rule"] in {"object-missing", "field-drifted"}
    ]
    assert found
    return [it for it in found if it not in listed]


def test_an_empty_and_a_forbidden_cluster_have_nothing_to_adopt(cluster, policygen):
    code, out, said = policygen("adopt", "--context", CONTEXT)
    assert (code, out) == (2, "")
    assert "run `policygen init`" in said
    code, out, said = policygen("adopt", "--context", CONTEXT, user="unknown")
    assert (code, out) == (3, "")
    assert "401" in said
    user = token(cluster, "adopter", joined([("", "namespaces", None)]))
    code, out, said = policygen("adopt", "--context", CONTEXT, user=user)
    assert (code, out) == (3, "")
    assert "forbidden" in said


def test_queues_that_contradict_each_other_are_adopted_with_what_they_lose(
    cluster, policygen, tmp_path, run
):
    cluster.apply(FOREIGN)
    cluster.add_nodes(Shape(labels={"pool": "gpu-a"}), 2)
    other = {**JOB, "metadata": {"name": "free", "namespace": "shared"}}
    cluster.create(JOB, other)
    folder = tmp_path / "spec"
    code, _, listed = policygen("adopt", "--context", CONTEXT, "-o", folder)
    assert code == 1, listed
    listed = " ".join(listed.split())
    for text in (
        "ResourceFlavor gpu-a: metadata.labels.owner: is infra here, and not rendered",
        "ResourceFlavor gpu-a: the nodes have 16 nvidia.com/gpu, but the quotas add up to 32",
        "ClusterQueue blue: spec.stopPolicy: is Hold here",
        "ClusterQueue green: namespace shared and its models are those of team blue",
        "Job shared/train: its queue is one of team green, but namespace shared is one of team blue",
        "Job shared/free: it names no queue, and queues of the teams blue and green admit its namespace",
        "lendingLimit: is",
        "Queue students: spec.weight: is 4 here",
    ):
        assert text in listed, (text, listed)
    assert _unlisted(policygen, folder, listed) == []
    # No set exists, so the role for lint is enough.
    user = token(cluster, "linter", joined(split(yaml.safe_load(run("rbac")[1]))))
    code, _, said = policygen("adopt", "--context", CONTEXT, user=user)
    assert (code, "ConfigMap" in said) == (1, False), said
    # Without the permission to read nodes and Cohorts, the same queues are adopted, and the gaps come first.
    some = [
        (group, kind, None)
        for group, kind in (
            ("", "namespaces"),
            ("kueue.x-k8s.io", "clusterqueues"),
            ("kueue.x-k8s.io", "localqueues"),
            ("kueue.x-k8s.io", "resourceflavors"),
        )
    ]
    user = token(cluster, "reader", joined(some))
    code, out, said = policygen("adopt", "--context", CONTEXT, user=user)
    assert (code, "name: blue" in out, said.startswith("not read: ")) == (3, True, True)
    gaps = [it for it in said.splitlines() if it.startswith("not read: ")]
    assert {"Node ", "Cohort."} <= {gap[10:17] if "Cohort" in gap else gap[10:15] for gap in gaps}


def test_each_kind_that_may_not_be_read_is_named(cluster, built, policygen, run):
    """A result without a kind is incomplete, also where the other objects make no valid spec."""
    apply_example(cluster, example("articles", built["kueue"].asset(kueue.CONFIGURATION)))
    permissions = list(split(yaml.safe_load(run("rbac")[1])))
    profiles = ("", "configmaps", "default-kube-scheduler")

    def adopted(name, some):
        user = token(cluster, name, joined(some))
        return policygen("adopt", "--context", CONTEXT, user=user)

    code, whole, said = adopted("whole", [*permissions, profiles])
    assert (code, "ot read" in whole + said) == (1, False)
    for number, (resource, kind) in enumerate(
        (
            ("clusterqueues", "ClusterQueue.kueue.x-k8s.io"),
            ("nodes", "Node"),
            ("resourceflavors", "ResourceFlavor.kueue.x-k8s.io"),
            ("resourcequotas", "ResourceQuota"),
            (profiles[2], "ConfigMap"),
        )
    ):
        some = [it for it in (*permissions, profiles) if resource not in it]
        code, spec, said = adopted(f"lacks-{number}", some)
        gap = f"{kind} could not be read: "
        assert (code, said.count(f"not read: {gap}"), "forbidden" in said) == (3, 1, True), said
        assert spec.startswith(f"# Not read, so the spec may lack it: {gap}"), spec
    code, spec, said = adopted("nothing", [("", "secrets", None)])
    assert (code, spec) == (3, "")
    named = {line.split()[2] for line in said.splitlines() if line.startswith("not read: ")}
    assert {
        "ClusterQueue.kueue.x-k8s.io",
        "Queue.scheduling.volcano.sh",
        "Deployment.apps",
    } <= named
    assert "no object to adopt was read; `policygen rbac` prints the permissions" in said
