"""Prometheus evaluates the rendered rules: each alert fires for one change of a healthy world, and only then."""

from __future__ import annotations

import copy
import json
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.servers.rendering import rendered

EXAMPLE = Path(__file__).parents[2] / "examples" / "serving-slices" / "policy.yaml"
SPEC = """
apiVersion: policygen.dev/v1alpha1
kind: Platform
metadata: {name: farm}
spec:
  monitoring:
    idleFor: 20m
    guaranteeUnusedFor: 40m
    saturatedFor: 10m
    pendingFor: 20m
    fragmentedFor: 10m
    driftCheckedEvery: 40m
---
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {name: a100}
spec:
  nodeSelector: {example.com/poolName: a100}
  gpu: {product: NVIDIA-A100-SXM4-80GB}
  capacity: {nodes: 2, nodeAllocatable: {cpu: 96, memory: 1000Gi}}
---
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {name: h100}
spec:
  scheduler: volcano
  nodeSelector: {example.com/poolName: h100}
  gpu: {product: NVIDIA-H100-80GB-HBM3}
  capacity: {nodes: 1, nodeAllocatable: {cpu: 96, memory: 1000Gi}}
---
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {name: slices}
spec:
  scheduler: kube-scheduler
  nodeSelector: {example.com/poolName: slices}
  gpu: {product: NVIDIA-A100-SXM4-80GB, perNode: 1, sharing: mig, mig: {instances: {1g.10gb: 7}}}
  capacity: {nodes: 1, nodeAllocatable: {cpu: 28, memory: 280Gi}}
---
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata: {name: vision}
spec:
  namespaces: [{name: vision}]
  quotas:
    - {pool: a100, guarantee: 8, limit: 12}
    - {pool: h100, guarantee: 8, limit: 8}
    - {pool: slices, guarantee: {1g.10gb: 2}, limit: {1g.10gb: 7}}
---
apiVersion: policygen.dev/v1alpha1
kind: Model
metadata: {name: segmenter}
spec: {team: vision, resources: {gpus: 4}, placement: {pools: [a100]}, replicas: 2}
"""
GPU, MIG = "nvidia_com_gpu", "nvidia_com_mig_1g_10gb"
WITHOUT = None
"""The series does not exist."""
MINUTES = 60
"""The length of the world; longer than each threshold."""


def series(name, **labels):
    inside = ",".join(f'{key}="{value}"' for key, value in labels.items())
    return f"{name}{{{inside}}}"


def node(name, pool, resource, units):
    def allocatable(resource):
        return series("kube_node_status_allocatable", node=name, resource=resource)

    return {
        series("kube_node_labels", node=name, label_example_com_pool_name=pool): 1,
        series("kube_node_spec_unschedulable", node=name): 0,
        allocatable(resource): units,
        allocatable("cpu"): 96,
        allocatable("memory"): 2**40,
    }


def pod(name, on, resource, units, cpu=1):
    who = {"namespace": "vision", "pod": name}

    def requests(resource):
        return series("kube_pod_container_resource_requests", **who, node=on, resource=resource)

    return {
        series("kube_pod_status_phase", **who, phase="Running"): 1 if on else 0,
        series("kube_pod_status_phase", **who, phase="Pending"): 0 if on else 1,
        series("kube_pod_created", **who): 0,
        requests(resource): units,
        requests("cpu"): cpu,
        requests("memory"): 2**30,
    }


def moved(name, units):
    """The pod is on node a2, with other units."""
    return dict.fromkeys(pod(name, "a1", GPU, 0), WITHOUT) | pod(name, "a2", GPU, units)


def engine(pod, percent, **labels):
    name = series("DCGM_FI_PROF_GR_ENGINE_ACTIVE", namespace="vision", pod=pod, gpu="0", **labels)
    return {name: percent / 100}


def kueue(used, pending, admitted, **labels):
    queue = {"cluster_queue": "vision.a100", **labels}
    used_of = {**queue, "flavor": "a100", "resource": "nvidia.com/gpu", "cohort": "a100"}
    return {
        series("kueue_cluster_queue_resource_reservation", **used_of): used,
        series("kueue_pending_workloads", **queue, status="active"): pending,
        series("kueue_pending_workloads", **queue, status="inadmissible"): 0,
        series("kueue_admitted_workloads_total", **queue, priority_class=""): admitted,
    }


def two_kueues(used, pending, admitted):
    """The series of a leader and of a follower, which both report gauges."""
    leader = kueue(used, pending, admitted, replica_role="leader")
    return (
        dict.fromkeys(kueue(0, 0, 0), WITHOUT)
        | leader
        | kueue(used, pending, 0, replica_role="follower")
    )


def one_follower(used, pending, admitted):
    """The series of Kueue 0.16.2 until a queue changes after the election."""
    follower = kueue(used, pending, admitted, replica_role="follower")
    return dict.fromkeys(kueue(0, 0, 0), WITHOUT) | follower


def volcano(used, pending):
    queue = {"queue_name": "vision.h100"}
    return {
        series(
            "volcano_queue_allocated_scalar_resources", **queue, resource="nvidia.com/gpu"
        ): used,
        series("volcano_queue_pod_group_pending_count", **queue): 0,
        series("volcano_queue_pod_group_inqueue_count", **queue): pending,
    }


HEALTHY = {
    **node("a1", "a100", GPU, 8),
    **node("a2", "a100", GPU, 8),
    **node("h1", "h100", GPU, 8),
    **node("s1", "slices", MIG, 7),
    **pod("segmenter-0", "a1", GPU, 4),
    **pod("segmenter-1", "a1", GPU, 4),
    **pod("trainer", "h1", GPU, 8),
    **pod("slice-0", "s1", MIG, 2),
    series(
        "kube_pod_labels",
        namespace="vision",
        pod="segmenter-0",
        label_policygen_dev_model="segmenter",
    ): 1,
    series(
        "kube_pod_labels",
        namespace="vision",
        pod="segmenter-1",
        label_policygen_dev_model="segmenter",
    ): 1,
    **engine("segmenter-0", 90),
    **engine("segmenter-1", 30),
    **engine("trainer", 95),
    **engine("slice-0", 50, GPU_I_ID="1"),
    **kueue(8, 0, 2),
    **volcano(8000, 0),
    series("policygen_drifted", cluster="prod"): 0,
    "policygen_complete": 1,
    "policygen_run_timestamp_seconds": f"0+60x{MINUTES}",
}
"""No alert fires. The team uses its guarantees, and no workload waits."""

SEGMENTER = {"pool": "a100", "team": "vision", "model": "segmenter"}
A100 = {"pool": "a100", "resource": "nvidia.com/gpu"}
WARNING, NOTE = {"set": "farm", "severity": "warning"}, {"set": "farm", "severity": "info"}
FIRES = {
    "PolicygenGpusIdle": (
        21,
        engine("segmenter-0", 10) | engine("segmenter-1", 20),
        [SEGMENTER],
    ),
    "PolicygenGuaranteeUnused": (42, kueue(6, 0, 2), [A100 | {"team": "vision"}]),
    "PolicygenQuotaSaturated": (11, kueue(12, 1, 3), [A100 | {"team": "vision"}]),
    "PolicygenWorkloadsPending": (
        42,
        kueue(8, 2, f"0+0x30 1x{MINUTES}"),
        [{"pool": "a100", "team": "vision"}],
    ),
    "PolicygenPodsPending": (
        21,
        pod("trainer-1", "", GPU, 8),
        [{"team": "vision", "namespace": "vision"}],
    ),
    "PolicygenPoolFragmented": (
        11,
        moved("segmenter-1", 5) | pod("other", "a1", GPU, 1) | kueue(10, 1, 3),
        [A100],
    ),
    "PolicygenGpusStranded": (11, pod("greedy", "a2", GPU, 1, cpu=90), [A100]),
    "PolicygenPoolTooSmall": (11, {series("kube_node_spec_unschedulable", node="a2"): 1}, [A100]),
    "PolicygenDrift": (5, {series("policygen_drifted", cluster="prod"): 3}, [{"cluster": "prod"}]),
    "PolicygenLintOutdated": (43, {"policygen_run_timestamp_seconds": 120}, [{}]),
    "PolicygenLintIncomplete": (5, {"policygen_complete": 0}, [{}]),
    "PolicygenMetricMissing": (
        16,
        dict.fromkeys(volcano(0, 0), WITHOUT),
        [{"metric": "volcano_queue_allocated_scalar_resources"}],
    ),
}
"""For each alert: the minute, the changes of the healthy world, and the labels of the alerts that fire."""

QUIET = {
    "PolicygenGpusIdle": (21, engine("segmenter-0", 10) | engine("segmenter-1", 31)),
    "PolicygenGuaranteeUnused": (38, kueue(6, 0, 2)),
    "PolicygenQuotaSaturated": (42, kueue(12, 0, 3)),
    "PolicygenWorkloadsPending": (42, kueue(8, 2, f"0+0x30 3x{MINUTES}")),
    "PolicygenPodsPending": (21, pod("cpu-only", "", "cpu", 1)),
    "PolicygenPoolFragmented": (
        11,
        moved("segmenter-1", 4) | pod("other", "a1", GPU, 1) | kueue(9, 1, 3),
    ),
    "PolicygenGpusStranded": (11, pod("modest", "a2", GPU, 4, cpu=40)),
    "PolicygenPoolTooSmall": (9, {series("kube_node_spec_unschedulable", node="a2"): 1}),
    "PolicygenDrift": (5, {series("policygen_drifted", cluster="prod"): 0}),
    "PolicygenLintOutdated": (41, {"policygen_run_timestamp_seconds": 120}),
    "PolicygenLintIncomplete": (5, {"policygen_complete": 1}),
    "PolicygenMetricMissing": (
        31,
        dict.fromkeys(engine("segmenter-0", 0), WITHOUT)
        | {series("DCGM_FI_DEV_GPU_UTIL", namespace="vision", pod="segmenter-0", gpu="0"): 90},
    ),
}
"""Changes that are almost those of FIRES: too short, too small, or without the second condition."""


@pytest.fixture(scope="module")
def groups():
    text = rendered(SPEC, "monitoring").text
    (rule,) = (it for it in yaml.safe_load_all(text) if it["kind"] == "PrometheusRule")
    return rule["spec"]["groups"]


@pytest.fixture
def promtool(tools, tmp_path, groups):
    """A function that runs promtool with the rules in a file."""
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump({"groups": groups}))

    def run(*arguments):
        command = [tools["prometheus"].binary("promtool"), *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    return run


def case(name, minute, changes, alerts):
    """A unit test of promtool; it compares all alerts of these names."""
    world = {name: value for name, value in {**HEALTHY, **changes}.items() if value is not WITHOUT}
    return {
        "name": name,
        "interval": "1m",
        "input_series": [
            {"series": name, "values": value if isinstance(value, str) else f"{value}x{MINUTES}"}
            for name, value in world.items()
        ],
        "alert_rule_test": [
            {
                "eval_time": f"{minute}m",
                "alertname": alert,
                "exp_alerts": [{"exp_labels": it} for it in expected],
            }
            for alert, expected in alerts.items()
        ],
    }


def test_each_alert_has_series_that_fire_and_series_that_do_not(groups):
    alerts = {it["alert"] for group in groups for it in group["rules"] if "alert" in it}
    assert alerts == set(FIRES) == set(QUIET)


def test_promtool_accepts_the_rules(promtool):
    done = promtool("check", "rules", "--lint=all", "--lint-fatal", "rules.yaml")
    assert done.returncode == 0, done.stdout + done.stderr


def test_alerts_fire_only_for_their_faults(promtool, tmp_path, groups):
    # promtool compares annotations too; their text is in the golden files.
    for group in groups:
        for rule in group["rules"]:
            rule.pop("annotations", None)
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump({"groups": groups}))
    none = {name: [] for name in FIRES}
    tests = [case("healthy", MINUTES - 1, {}, none)]
    for kueues in (two_kueues, one_follower):
        saturated = [WARNING | A100 | {"team": "vision"}]
        alerts = {"PolicygenQuotaSaturated": saturated, "PolicygenGuaranteeUnused": []}
        pending = {"PolicygenWorkloadsPending": [WARNING | {"pool": "a100", "team": "vision"}]}
        tests += [
            case(f"{kueues.__name__}, healthy", MINUTES - 1, kueues(8, 0, 2), none),
            case(f"{kueues.__name__}, below the limit", 42, kueues(8, 1, 2), none | pending),
            case(f"{kueues.__name__}, at the limit", 42, kueues(12, 1, 3), alerts),
        ]
    for name, (minute, changes, labels) in FIRES.items():
        severity = NOTE if name == "PolicygenGuaranteeUnused" else WARNING
        tests.append(case(name, minute, changes, {name: [severity | it for it in labels]}))
    for name, (minute, changes) in QUIET.items():
        tests.append(case(f"not {name}", minute, changes, {name: []}))
    file = {"rule_files": ["rules.yaml"], "evaluation_interval": "1m", "tests": tests}
    (tmp_path / "tests.yaml").write_text(yaml.safe_dump(file))
    done = promtool("test", "rules", "tests.yaml")
    assert done.returncode == 0, done.stdout + done.stderr


def test_grafana_reads_each_field_of_the_dashboard(tools):
    """With the types that Grafana generates from its published schema, which refuse what they do not know."""

    def errors(dashboard):
        command = [tools["grafana"].binary("dashboard")]
        done = subprocess.run(command, input=json.dumps(dashboard), capture_output=True, text=True, check=False)  # fmt: skip
        return done.stdout

    for spec in (SPEC, EXAMPLE.read_text("utf-8")):
        (made,) = (
            json.loads(it["data"]["gpu-policy.json"])
            for it in rendered(spec, "monitoring").objects
            if it["kind"] == "ConfigMap" and "gpu-policy.json" in it["data"]
        )
        assert errors(made) == ""
    for spoil, place in (
        (lambda it: it.update(panel=1), "unexpected field 'panel'"),
        (lambda it: it["panels"][0]["targets"][0].update(query=1), "panels[0].targets[0]"),
        (lambda it: it["panels"][0]["gridPos"].update(w="a"), "panels[0].gridPos.w"),
        (lambda it: it.pop("annotations"), "annotations"),
    ):
        spoilt = copy.deepcopy(made)
        spoil(spoilt)
        assert place in errors(spoilt)
