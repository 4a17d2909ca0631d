"""The nodes that the pools of a spec imply."""

from fractions import Fraction

from policygen.documents.files import Source
from policygen.kubernetes.core import TaintView
from policygen.kubernetes.node_groups import Stated
from policygen.plan.compile import compile_plan
from policygen.plan.implied_nodes import implied_nodes
from policygen.spec.load import load

POOL = """
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {name: a100}
spec:
  nodeSelector: {pool: a100}
  taints: [{key: nvidia.com/gpu, effect: NoSchedule}]
  gpu: {perNode: 8, memory: 80Gi%s}
  capacity: {%s, nodeAllocatable: {cpu: 96, memory: 1000Gi}}
"""


def nodes(gpu="", capacity="nodes: 4", more=""):
    loaded = load([Source("spec.yaml", POOL % (gpu, capacity) + more, None)])
    return list(implied_nodes(compile_plan(loaded.spec).pools))


def test_a_pool_implies_equal_nodes():
    (it,) = nodes()
    assert (it.name, it.count, it.stated, it.at) == ("a100", 4, Stated.PART, None)
    assert it.labels == {"pool": "a100"}
    assert it.taints == (TaintView("nvidia.com/gpu", "NoSchedule"),)
    assert it.allocatable == {
        "cpu": Fraction(96),
        "memory": Fraction(1000 << 30),
        "nvidia.com/gpu": Fraction(8),
    }


def test_available_gpus_and_shared_ones():
    (it,) = nodes(", sharing: timeSlicing, replicas: 4", "totalGPUs: 32, availableGPUs: 20")
    assert (it.count, it.allocatable["nvidia.com/gpu"]) == (3, 32)


def test_mig_instances_are_counted_for_the_pool():
    """They can be spread unequally, so a node may have all of them."""
    mig = ", product: a100-80gb, sharing: mig, mig: {instances: {1g.10gb: 40}}"
    (it,) = nodes(mig)
    assert it.allocatable["nvidia.com/mig-1g.10gb"] == 40
    assert it.together == {"nvidia.com/mig-1g.10gb": 40}
    (whole,) = nodes()
    assert whole.together == {}


def test_resources_of_other_pools_are_known_to_be_missing():
    other = POOL % (", resource: example.com/gpu", "nodes: 1")
    found = nodes(more="---" + other.replace("a100", "h100"))
    offered = [
        (it.name, it.allocatable["nvidia.com/gpu"], it.allocatable["example.com/gpu"])
        for it in found
    ]
    assert offered == [("a100", 8, 0), ("h100", 0, 8)]
