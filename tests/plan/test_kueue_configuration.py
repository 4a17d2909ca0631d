"""Kueue's Configuration."""

import pytest


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
