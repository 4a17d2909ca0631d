"""Pods without the packing profile of their pool; its page shows it on kube-scheduler."""

from datetime import date

import pytest

from policygen.app import lint
from policygen.app.requests import LintRequest

SPEC = """
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {name: a100}
spec:
  scheduler: kube-scheduler
  schedulingPolicy: {binPack: %s}
  nodeSelector: {pool: a100}
  gpu: {product: a100-80gb, perNode: 8}
  capacity: {nodes: 2, nodeAllocatable: {cpu: 96, memory: 768Gi}}
---
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata: {name: vision}
spec: {namespaces: [{name: vision}], quotas: [{pool: a100, limit: 16}]}
"""
POD = """
apiVersion: v1
kind: Pod
metadata: {name: %s, namespace: vision}
spec: {nodeSelector: {pool: a100}, containers: [{name: main, image: a, resources: {limits: {%s}}}]%s}
---
"""
CONFIGURATION = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated, resources: [{name: nvidia.com/gpu, weight: 9}]}}
"""
GPU, EIGHT = "cpu: 1, nvidia.com/gpu: 1", "cpu: 1, nvidia.com/gpu: 8"
NAMED = ", schedulerName: default.binpack"


@pytest.fixture
def messages(tmp_path):
    """The findings of two rules for some pods beside the spec."""

    def found(*texts, bin_pack="true"):
        spec, manifests = tmp_path / "spec.yaml", tmp_path / "manifests.yaml"
        spec.write_text(SPEC % bin_pack, "utf-8")
        manifests.write_text("".join(texts), "utf-8")
        rules = "pod-without-packing-profile", "two-schedulers-one-pool"
        request = LintRequest(specs=(str(spec),), manifests=(str(manifests),), only=rules)
        report = lint.lint(request, today=date(2026, 11, 23))
        return [it.message for it in report.findings if it.rule.name in rules]

    return found


def test_each_workload_is_reported_once_with_the_name_to_write(messages):
    [one, two] = messages(POD % ("one", GPU, ""), POD % ("two", GPU, ""))
    assert one.startswith("the pods of Pod vision/one use GPUs of pool a100")
    assert "write schedulerName: default.binpack" in two


def test_pods_beside_others_with_the_profile_are_reported_once(messages):
    """The pair is worse: two schedulers use the same nodes."""
    [message] = messages(POD % ("one", GPU, NAMED), POD % ("two", GPU, ""))
    assert message.endswith("; write schedulerName: default.binpack in Pod vision/two")


@pytest.mark.parametrize(
    "pod", [POD % ("one", "cpu: 1", ""), POD % ("one", EIGHT, ""), POD % ("one", GPU, NAMED)]
)
def test_pods_without_use_for_the_profile_are_not_reported(messages, pod):
    assert messages(pod) == []


def test_a_default_profile_that_packs_is_enough(messages):
    assert messages(POD % ("one", GPU, ""), CONFIGURATION) == []


def test_a_pool_that_does_not_pack_has_no_profile(messages):
    assert messages(POD % ("one", GPU, ""), bin_pack="false") == []
