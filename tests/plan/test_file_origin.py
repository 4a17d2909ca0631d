"""Drift inside a controller's file is reported at the line of the spec that decides the value."""

import json

import pytest
import yaml
from click.testing import CliRunner

from policygen.cli.main import cli
from policygen.client import snapshot_file as snapshots
from tests.client.looks import snapshot

BASE = """\
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
leaderElection: {leaderElect: true}
"""
SPEC = """\
apiVersion: policygen.dev/v1alpha1
kind: Platform
metadata:
  name: mixed # set
spec:
  defaults:
    schedulingPolicy:
      gangScheduling: true # gangs
  kueue:
    namespace: kueue-system # kueue namespace
    configuration: base.yaml # base
  kubeScheduler:
    namespace: kube-system # scheduler namespace
    image: registry.example.com/kube-scheduler:v1.36.3 # image
---
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {name: a100}
spec:
  nodeSelector: {pool: a100}
  gpu: {product: NVIDIA-A100-SXM4-40GB, perNode: 8} # packed gpu
  capacity: {nodes: 4, nodeType: p4d.24xlarge}
  schedulingPolicy:
    binPack: true # packs
---
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {name: l4}
spec:
  nodeSelector: {pool: l4}
  gpu: {product: NVIDIA-L4, perNode: 4}
  capacity: {nodes: 4, nodeAllocatable: {cpu: "47", memory: 180Gi}}
  schedulingPolicy:
    spread: true # spreads
---
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {name: h100}
spec:
  scheduler: volcano
  nodeSelector: # group
    pool: h100
    volcano.sh/nodegroup-name: h100
  gpu: {product: NVIDIA-H100-80GB-HBM3, perNode: 8} # volcano gpu
  capacity: {nodes: 8, nodeType: p5.48xlarge}
  schedulingPolicy:
    binPack: true # volcano packs
    preemptionEnabled: true # preempts
---
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata: {name: vision}
spec:
  namespaces: [{name: vision}]
  quotas:
    - {pool: a100, guarantee: 8}
---
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata: {name: speech}
spec:
  namespaces: [{name: speech}]
  quotas:
    - pool: a100
      weight: 3 # weight
"""
SCHEDULER, VOLCANO, KUEUE = (
    "mixed-kube-scheduler",
    "volcano-scheduler-configmap",
    "kueue-manager-config",
)


@pytest.fixture
def behind(tmp_path):
    """Renders the spec and changes it as a cluster's objects; returns the spec line of each drift.

    A line is identified by its comment.
    """
    spec = tmp_path / "spec.yaml"
    spec.write_text(SPEC, "utf-8")
    (tmp_path / "base.yaml").write_text(BASE, "utf-8")
    extras = [f"--with={name}" for name in ("second-scheduler", "volcano-config", "kueue-config")]
    made = CliRunner().invoke(cli, ["render", "-q", *extras, str(spec)])
    assert made.exit_code == 0, made.output
    things = {
        (it["kind"], it["metadata"]["name"]): it
        for it in yaml.load_all(made.stdout, Loader=yaml.CSafeLoader)
    }

    def run(change):
        change(things)
        look = tmp_path / "cluster.snapshot"
        snapshots.write(snapshot(yaml.safe_dump_all(things.values())), look)
        arguments = [
            "lint",
            "-f",
            "json",
            "--snapshot",
            str(look),
            "--rule=field-drifted",
            *extras,
            str(spec),
        ]
        found = json.loads(CliRunner().invoke(cli, arguments).stdout)["findings"]
        return {
            it["path"]: SPEC.splitlines()[place["place"]["line"] - 1].partition(" # ")[2]
            for it in found
            for place in it["related"]
        }

    return run


@pytest.mark.parametrize(
    "name, old, new, line",
    [
        (SCHEDULER, "type: MostAllocated", "type: LeastAllocated", "packs"),
        (SCHEDULER, "weight: 19", "weight: 2", "packed gpu"),
        (SCHEDULER, "type: LeastAllocated", "type: MostAllocated", "spreads"),
        (SCHEDULER, "schedulerName: mixed.spread", "schedulerName: spread", "set"),
        (SCHEDULER, "resourceName: mixed-", "resourceName: ", "set"),
        (SCHEDULER, "resourceNamespace: kube-system", "resourceNamespace: x", "scheduler namespace"),
        (VOLCANO, "allocate, preempt,", "allocate,", "preempts"),
        (VOLCANO, "enableReclaimable: false", "enableReclaimable: true", "preempts"),
        (VOLCANO, "strict: false", "strict: true", "group"),
        (VOLCANO, "binpack.weight: 10", "binpack.weight: 1", "volcano packs"),
        (VOLCANO, "resources.nvidia.com/gpu: 17", "resources.nvidia.com/gpu: 1", "volcano gpu"),
        (KUEUE, "blockAdmission: false", "blockAdmission: true", "gangs"),
        (KUEUE, "- LessThanInitialShare", "- LessThanFinalShare", "weight"),
        (KUEUE, "- kueue-system", "- kueue", "kueue namespace"),
        (KUEUE, "leaderElect: true", "leaderElect: false", "base"),
    ],
)  # fmt: skip
def test_a_field_of_a_file(behind, name, old, new, line):
    def change(things):
        data = things["ConfigMap", name]["data"]
        ((key, text),) = data.items()
        assert old in text
        data[key] = text.replace(old, new, 1)

    told = behind(change)
    assert set(told.values()) == {line}, told


def test_the_program_that_reads_it(behind):
    def change(things):
        (container,) = things["Deployment", SCHEDULER]["spec"]["template"]["spec"]["containers"]
        container["image"] = "other:1"

    assert behind(change) == {"spec.template.spec.containers[0].image": "image"}
