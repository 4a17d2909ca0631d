"""The unit that memory-without-unit proposes."""

import pytest

from policygen.lint.core.rules import memory_without_unit
from tests.objects import facts

POD = """
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers: [{name: b, image: c, resources: {limits: {%s}}}]
"""


@pytest.mark.parametrize(
    ("limits", "remedy"),
    [
        ("memory: 256, nvidia.com/gpu: 8", "write a unit, such as 256Gi"),
        ("memory: 65536, nvidia.com/gpu: 8", "write a unit, such as 65536Mi"),
        ("memory: 64m, nvidia.com/gpu: 1", "write 64Gi"),
        ("memory: 256", "write a unit, such as 256Mi"),
        ("memory: 64", "write a unit, such as 64Gi"),
        ("memory: 64m", "write 64Mi"),
    ],
)
def test_a_container_with_gpus_needs_more_than_a_few_mi(limits, remedy):
    [hit] = memory_without_unit.check(facts(POD % limits))
    assert hit.message.endswith(f"; {remedy}")
