"""Kueue's Configuration."""

import pytest

from policygen.kubernetes.kueue_jobs import FRAMEWORKS
from policygen.plan.kueue_configuration import decide


@pytest.mark.parametrize(
    "version, gangs, told", [("0.18", "false", 0), ("0.19", "false", 1), ("0.19", "true", 0)]
)
def test_kueue_waits_for_pods_with_any_pool(planned, pool, version, gangs, told):
    platform = f"""
    apiVersion: policygen.dev/v1alpha1
    kind: Platform
    metadata: {{name: set}}
    spec: {{target: {{kueue: "{version}"}}}}
    """
    done = planned(platform, pool(more=f"schedulingPolicy: {{gangScheduling: {gangs}}}"))
    assert done.rules.count("gang-scheduling-false-ignored") == told


@pytest.mark.parametrize(
    ("version", "later"),
    [("0.13", {"trainer.kubeflow.org/trainjob", "ray.io/rayservice"}), ("0.19", set())],
)
def test_all_kinds_that_a_release_has_are_managed(planned, pool, version, later):
    platform = f"""
    apiVersion: policygen.dev/v1alpha1
    kind: Platform
    metadata: {{name: set}}
    spec: {{target: {{kueue: "{version}"}}}}
    """
    done = planned(platform, pool())
    item = decide(done.loaded.sound.platform, done.plan.pools, done.plan.trees, (), None)
    frameworks = item.fields.fields["integrations"]["frameworks"]
    assert {*FRAMEWORKS.values()} - {*frameworks} == later
    assert len(frameworks) == len({*frameworks})


@pytest.mark.parametrize(
    ("more", "enabled"),
    [
        ("", None),
        ("monitoring: {}", True),
        ("monitoring: {idleFor: 2h}", True),
    ],
)
def test_monitoring_needs_the_metrics_of_quotas(planned, pool, more, enabled):
    platform = f"""
    apiVersion: policygen.dev/v1alpha1
    kind: Platform
    metadata: {{name: set}}
    spec: {{{more}}}
    """
    done = planned(platform, pool())
    item = decide(done.loaded.sound.platform, done.plan.pools, done.plan.trees, (), None)
    assert item.fields.fields["metrics"].get("enableClusterQueueResources") == enabled
