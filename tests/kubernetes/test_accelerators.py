"""Which resources are accelerators, and which pods request them."""

from fractions import Fraction

import pytest

from policygen.kubernetes.accelerators import is_one, requested, unit_of
from tests.objects import cluster


@pytest.mark.parametrize(
    "name",
    [
        "nvidia.com/gpu",
        "nvidia.com/mig-1g.10gb",
        "AMD.com/GPU",
        "x.com/gpu.shared",
        "intel.com/i915",
    ],
)
def test_accelerators(name):
    assert is_one(name)


@pytest.mark.parametrize(
    "name", ["gpu", "nvidia.com/gpus", "requests.nvidia.com/gpu", "cpu", "count/x.com/gpu", "a/nic"]
)
def test_other_resources(name):
    assert not is_one(name)


def test_requests_of_a_pod():
    it = cluster("""
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  containers:
  - resources: {limits: {nvidia.com/gpu: 2, cpu: 1, amd.com/gpu: 0}}
  - resources: {limits: {nvidia.com/gpu: 1}}
""")
    (template,) = it.workloads[0].templates
    assert requested(it, template) == {"nvidia.com/gpu": Fraction(3)}


@pytest.mark.parametrize(
    ("resources", "unit"),
    [
        ((), "GPU"),
        (("cpu", "nvidia.com/gpu"), "GPU"),
        (("nvidia.com/mig-1g.5gb", "nvidia.com/mig-3g.20gb"), "MIG instance"),
        (("nvidia.com/gpu.shared",), "GPU share"),
        (("nvidia.com/gpu", "nvidia.com/mig-1g.5gb"), "accelerator"),
        (("google.com/tpu",), "accelerator"),
    ],
)
def test_the_unit_of_accelerators(resources, unit):
    assert unit_of(resources) == unit
