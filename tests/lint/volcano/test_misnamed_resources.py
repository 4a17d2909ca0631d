"""Names of resources in Queues and PodGroups that no pod requests."""

from policygen.lint.volcano.misnamed_resources import misnamed_resources
from tests.objects import cluster

OBJECTS = """
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: vision}
spec:
  deserved: {cpu: 64, nvidia.com/gpus: 8, example.com/fpga: 1, hugepages-2Mi: 1Gi}
  capability: {memory: 1Ti, nvidia.com/gpus: 16, tokens: 5}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: training, namespace: vision}
spec: {minMember: 2, minResources: {requests.nvidia.com/gpu: 4}}
---
apiVersion: v1
kind: Node
metadata: {name: a}
status: {allocatable: {nvidia.com/gpus: "8"}}
"""


def found(text):
    return [
        (it.owner.name, it.name, it.right, it.paths) for it in misnamed_resources(cluster(text))
    ]


def test_a_name_of_several_amounts_is_found_once():
    assert found(OBJECTS.rpartition("---")[0]) == [
        (
            "vision",
            "nvidia.com/gpus",
            "nvidia.com/gpu",
            (
                ("spec", "capability", "nvidia.com/gpus"),
                ("spec", "deserved", "nvidia.com/gpus"),
            ),
        ),
        ("vision", "tokens", "", (("spec", "capability", "tokens"),)),
        (
            "training",
            "requests.nvidia.com/gpu",
            "nvidia.com/gpu",
            (("spec", "minResources", "requests.nvidia.com/gpu"),),
        ),
    ]


def test_a_name_that_nodes_have_is_right():
    assert [name for _, name, *_ in found(OBJECTS)] == ["tokens", "requests.nvidia.com/gpu"]
