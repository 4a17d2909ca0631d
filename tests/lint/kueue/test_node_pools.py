"""Which NodePools of Karpenter can add nodes for a flavor."""

import pytest

from policygen.lint.kueue.node_pools import flavors_with_more_nodes, node_pools
from tests.objects import facts

POOL = """
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  template:
    metadata: {labels: {pool: h100}}
    spec:
      requirements:
      - {key: zone, operator: In, values: [a, b]}
      - {key: zone, operator: NotIn, values: [b]}
      - {key: spot, operator: DoesNotExist}
      - {key: arch, operator: Exists}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: h100}
spec: {nodeLabels: {%s}}
"""


@pytest.mark.parametrize(
    "labels, found",
    [
        ("pool: h100", True),
        ("pool: a100", False),
        ("karpenter.sh/nodepool: gpu", True),
        ("karpenter.sh/nodepool: other, pool: h100", False),
        ("zone: a", True),
        ("zone: b", False),
        ("zone: c", False),
        ("spot: 'true'", False),
        ("arch: arm64", True),
        ("nvidia.com/gpu.product: NVIDIA-H100, pool: h100", True),
        ("nvidia.com/gpu.product: NVIDIA-H100", False),  # nothing shows that it is this NodePool
        ("", False),
    ],
)
def test_labels_and_requirements_select_the_node_pools(labels, found):
    cluster = facts(POOL % labels).cluster
    assert [it.name for it in cluster.derive(node_pools)["h100"]] == (["gpu"] if found else [])
    assert cluster.derive(flavors_with_more_nodes) == ({"h100"} if found else set())
