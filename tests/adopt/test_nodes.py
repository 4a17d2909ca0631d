"""Nodes of pools, and pools of nodes that no queue is about."""

from tests.adopt.round_trip import adopted
from tests.adopt.test_infer import HAND


def node(name, gpus=4, resource="nvidia.com/gpu", labels="nvidia.com/gpu.product: NVIDIA-L4"):
    return f"""---
apiVersion: v1
kind: Node
metadata: {{name: {name}, labels: {{{labels}}}}}
spec: {{taints: [{{key: gpu, effect: NoSchedule}}]}}
status: {{allocatable: {{cpu: 31, memory: 120Gi, {resource}: {gpus}}}}}
"""


def test_nodes_that_a_label_separates_are_a_pool():
    labels = "nvidia.com/gpu.product: NVIDIA-L4, gpu: l4"
    inferred = adopted(HAND + node("l1", labels=labels) + node("l2", labels=labels), rendered=False)
    (pool,) = (it for it in inferred.spec.pools if it.name == "nvidia-l4")
    assert dict(pool.node_selector) == {"nvidia.com/gpu.product": "NVIDIA-L4", "gpu": "l4"}
    assert (pool.capacity.nodes, pool.gpu.per_node, pool.gpu.product) == (2, 4, "NVIDIA-L4")
    assert [it.key for it in pool.taints] == ["gpu"]
    assert inferred.left == ()


def test_nodes_that_could_match_another_pool_are_listed():
    inferred = adopted(HAND + node("l1"), rendered=False)
    assert [name for name, _ in inferred.left] == ["Node l1"]
