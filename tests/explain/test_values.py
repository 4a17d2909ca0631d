"""Every field of every rendered object has a value, an origin and a meaning, and its arithmetic is right."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from policygen.core.errors import PolicygenError
from policygen.core.versions import parse
from policygen.explain.step import Step
from tests.explain import walk
from tests.strategies import articles, specs

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(
    path.parent for path in (ROOT / "examples").glob("*/expected") if path.parent.name != "ci"
)
OLDEST = {"kueue": parse("kueue", "0.13"), "volcano": parse("volcano", "1.12")}
FEW = settings(
    max_examples=5,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)

PLATFORM = """
apiVersion: policygen.dev/v1alpha1
kind: Platform
metadata: {name: all}
spec:
  admission: {defaults: true}
  kueue: {configuration: kueue.yaml}
  kubeScheduler: {image: registry.example.com/kube-scheduler}
  priorities: [{name: high, value: 100}]
---
"""
KUEUE_BASE = """
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
namespace: kueue-system
health: {healthProbeBindAddress: ":8081"}
metrics: {bindAddress: ":8443"}
webhook: {port: 9443}
leaderElection: {leaderElect: true, resourceName: c1f6bfd2.kueue.x-k8s.io}
controller: {groupKindConcurrency: {Job.batch: 5}}
clientConnection: {qps: 50, burst: 100}
manageJobsWithoutQueueName: false
integrations: {frameworks: [batch/job]}
"""
POOL = """
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {name: %s}
spec:
  nodeSelector: {pool: %s%s}
  scheduler: %s
  gpu: {product: NVIDIA-H100-80GB-HBM3, resource: example.com/%s}
  capacity: {nodes: 3}
  schedulingPolicy: {%s}
---
"""
TEAMS = """
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata: {name: one}
spec:
  namespaces: [{name: one}]
  maxPending: 10
  quotas: [{pool: %s, guarantee: 7, weight: 3}]
---
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata: {name: two}
spec:
  namespaces: [{name: two}, {name: three}]
  quotas: [{pool: %s, limit: 5}]
"""
POLICIES = [
    ("kueue", "", "preemptionEnabled: false"),
    ("kueue", "", "overcommitRatio: 1.3, topologyAware: true"),
    ("volcano", "", "spread: true"),
    ("volcano", "", "binPack: false"),
    ("volcano", ", volcano.sh/nodegroup-name: h", "preemptionEnabled: false"),
    ("kube-scheduler", "", "spread: true"),
]


@pytest.mark.parametrize("target", [{}, OLDEST], ids=["newest", "oldest"])
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda it: it.name)
def test_every_field_of_the_examples_has_an_answer(path, target):
    found = walk.opened(path, target=target)
    assert list(walk.faults(found)) == []
    assert found.objects


@pytest.mark.parametrize("target", [{}, OLDEST], ids=["newest", "oldest"])
@pytest.mark.parametrize("scheduler, label, policy", POLICIES)
def test_every_field_has_an_answer_for_each_policy(tmp_path, scheduler, label, policy, target):
    """With the files of all controllers."""
    pool = POOL % ("p", "p", label, scheduler, "gpu", policy)
    (tmp_path / "spec.yaml").write_text(PLATFORM + pool + TEAMS % ("p", "p"))
    (tmp_path / "kueue.yaml").write_text(KUEUE_BASE)
    found = walk.opened(tmp_path / "spec.yaml", target=target)
    assert list(walk.faults(found)) == []
    kinds = {it.object.kind for it in found.objects}
    files = {name for it in found.data.values() for name in (it.get("data") or ())}
    if scheduler == "volcano":
        assert "volcano-scheduler.conf" in files
    else:
        assert ("config.yaml" in files, "Deployment" in kinds) == (True, True)
    assert ("controller_manager_config.yaml" in files) == (scheduler == "kueue")


@FEW
@given(specs())
def test_the_arithmetic_of_drawn_specs_is_right(tmp_path_factory, documents):
    _check(tmp_path_factory, documents)


@FEW
@given(articles())
def test_the_arithmetic_of_drawn_articles_is_right(tmp_path_factory, documents):
    _check(tmp_path_factory, documents)


def _check(tmp_path_factory, documents):
    path = tmp_path_factory.mktemp("spec") / "spec.yaml"
    path.write_text("\n---\n".join(map(json.dumps, documents)))
    try:
        found = walk.opened(path)
    except PolicygenError as error:
        raise AssertionError(getattr(error, "findings", error)) from None
    assert list(walk.faults(found)) == []


def test_wrong_arithmetic_is_found():
    assert walk.right(Step("cpu", "5m", "floor(11m × 1 / 2)"))
    assert not walk.right(Step("cpu", "6m", "floor(11m × 1 / 2)"))
    assert walk.right(Step("memory", "1048577", "2Mi - 1048575"))
    assert walk.right(Step("share", "3", "min(1 + floor(7 × 2 / 5), 9) + 0"))
    assert walk.same("1500m", "1.5")
    assert not walk.same("1500m", "1500")
