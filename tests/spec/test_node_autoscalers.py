"""An autoscaler of nodes that no program has is refused, with the field to change."""

import pytest

from policygen.documents.files import Source
from policygen.spec.load import load

POOL = """
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {{name: a}}
spec:
  nodeSelector: {{pool: a}}
  gpu: {{product: NVIDIA-H100-80GB-HBM3}}
  capacity: {{nodes: 2}}
  autoscaler: {{{autoscaler}}}
"""
CLASS = "nodeClass: {group: cloud.example.com, kind: GpuNodeClass, name: gpu}"


def findings(autoscaler):
    text = POOL.format(autoscaler=autoscaler)
    return [
        (it.rule.name, it.message.rpartition("; ")[2])
        for it in load([Source("spec.yaml", text, None)]).findings
    ]


@pytest.mark.parametrize(
    "autoscaler, remedies",
    [
        (f"nodeGroups: [a], {CLASS}", ["remove nodeClass or nodeGroups"]),
        (f"provisioningClass: a, {CLASS}", ["remove nodeClass or provisioningClass"]),
        (
            'nodeGroups: [a, "(", "(?!b)", "(a)\\\\1", "a++", "a{1001}", "a{99999999999}", "(?x)a"]',
            ["or an expression such as h100-spot-.*"] * 7,
        ),
    ],
)
def test_impossible_autoscalers(autoscaler, remedies):
    found = findings(autoscaler)
    assert [name for name, _ in found] == ["invalid-value"] * len(remedies)
    assert all(it.endswith(end) for (_, it), end in zip(found, remedies, strict=True))


@pytest.mark.parametrize(
    "autoscaler",
    [
        CLASS,
        "nodeGroups: ['(?i)gpu|h100', '.*'], provisioningClass: a.b",
        r"nodeGroups: ['[[:alpha:]]+', 'a(?i)b', '\pL\z', '\Q(\E', '(?<n>a)', 'a\++', 'a{1000}']",
    ],
)
def test_possible_autoscalers(autoscaler):
    assert findings(autoscaler) == []
