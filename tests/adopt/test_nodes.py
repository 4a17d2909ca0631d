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


def test_nodes_without_a_known_label_or_with_several_gpus_are_listed():
    nodes = node("plain", labels="disk: ssd") + node(
        "cut", resource="nvidia.com/mig-1g.10gb: 2, nvidia.com/gpu"
    )
    inferred = adopted(HAND + nodes, rendered=False)
    assert [(name, reason.partition(";")[0]) for name, reason in inferred.left] == [
        ("Node plain", "it is in no pool"),
        ("Node cut", "it has nvidia.com/gpu and nvidia.com/mig-1g.10gb, so it is in no pool"),
    ]


QUEUE = """---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: research}
spec: {deserved: {nvidia.com/gpu: 16}, capability: {nvidia.com/gpu: 16}}
"""
GPU_NODE = """---
apiVersion: v1
kind: Node
metadata: {name: %s, labels: {node.kubernetes.io/instance-type: %s}}
status: {allocatable: {cpu: "90", memory: 900Gi, nvidia.com/gpu: "8"}}
"""


def test_the_only_nodes_without_a_pool_are_those_of_volcano():
    nodes = GPU_NODE % ("a", "big") + GPU_NODE % ("b", "big")
    inferred = adopted(QUEUE + nodes, rendered=False)
    (pool,) = inferred.spec.pools
    assert dict(pool.node_selector) == {"node.kubernetes.io/instance-type": "big"}
    assert (pool.gpu.per_node, pool.capacity.nodes) == (8, 2)
    assert any(
        it.text.startswith("Guess: queues of Volcano name no nodes") for it in inferred.guesses
    )
    (pool,) = adopted(QUEUE + nodes + GPU_NODE % ("c", "small"), rendered=False).spec.pools
    assert "node.kubernetes.io/instance-type" not in dict(pool.node_selector)


def test_taints_that_servers_refuse_are_listed():
    """A pool with such a taint would be invalid, and nothing could be adopted."""
    taint = "{key: gpu, value: 'true', effect: NoScedule}"
    inferred = adopted(
        f"""
apiVersion: v1
kind: Node
metadata: {{name: n1, labels: {{pool: a100}}}}
spec: {{taints: [{taint}]}}
status: {{allocatable: {{nvidia.com/gpu: 8, cpu: 96, memory: 768Gi}}}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {{name: a100}}
spec:
  nodeLabels: {{pool: a100}}
  nodeTaints: [{taint}]
  tolerations: [{{key: gpu, effect: NoScedule}}, {{key: a, operator: Exists, effect: NoSchedule}}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {{name: old}}
spec:
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors: [{{name: a100, resources: [{{name: nvidia.com/gpu, nominalQuota: 8}}]}}]
""",
        rendered=False,
    )
    (pool,) = inferred.spec.pools
    assert pool.taints == ()
    assert [it.key for it in pool.tolerations] == ["a"]
    assert inferred.left == (
        (
            "Node n1",
            "the effect of taint gpu=true:NoScedule is invalid, so the spec does not have it",
        ),
    )
