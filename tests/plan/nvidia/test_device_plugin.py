"""The device plugin shares the cards of each pool as often as its quotas count them."""

import pytest

from policygen.documents.files import Source
from policygen.plan.compile import compile_plan
from policygen.plan.nvidia import device_plugin
from policygen.spec.load import load

POOL = """
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {{name: shared}}
spec:
  nodeSelector: {{{selector}}}
  gpu: {{product: NVIDIA-L4, perNode: 4, {gpu}}}
  capacity: {{nodes: 2, nodeAllocatable: {{cpu: 32, memory: 128Gi}}}}
"""


def files(gpu, selector="pool: shared"):
    text = POOL.format(gpu=gpu, selector=selector)
    spec = load([Source("spec.yaml", text, None)]).spec
    plan = compile_plan(spec)
    found = device_plugin.configurations(spec.platform, plan.pools)
    return plan.pools[0], {it.key: it for it in found}


@pytest.mark.parametrize("sharing", ["timeSlicing", "mps"])
@pytest.mark.parametrize(
    "resource, renamed",
    [("nvidia.com/gpu", {}), ("nvidia.com/gpu.shared", {"renameByDefault": True})],
)
def test_the_replicas_of_the_cards_are_the_units_of_the_pool(sharing, resource, renamed):
    pool, found = files(f"sharing: {sharing}, replicas: 3, resource: {resource}")
    assert set(found) == {"default", "shared"}
    assert found["default"].sharing == {}
    resources = [{"name": "nvidia.com/gpu", "replicas": 3}]
    assert found["shared"].sharing == {sharing: {**renamed, "resources": resources}}
    assert pool.available[resource] == 2 * 4 * 3


def test_a_mig_pool_has_its_strategy():
    gpu = "sharing: mig, mig: {strategy: single, instances: {1g.5gb: 56}}"
    text = POOL.format(gpu=gpu, selector="pool: mig").replace("NVIDIA-L4", "NVIDIA-A100-SXM4-40GB")
    spec = load([Source("spec.yaml", text, None)]).spec
    found = device_plugin.configurations(spec.platform, compile_plan(spec).pools)
    assert [(it.key, it.mig_strategy, it.sharing) for it in found] == [
        ("default", "", {}),
        ("shared", "single", {}),
    ]


def test_without_shared_pools_there_is_no_file():
    assert files("sharing: none")[1] == {}


def test_the_key_is_the_label_of_the_node_selector():
    selector = "nvidia.com/device-plugin.config: slices"
    _, found = files("sharing: timeSlicing, replicas: 2", selector)
    assert set(found) == {"default", "slices"}


def test_other_resources_cannot_be_shared():
    _, found = files("sharing: timeSlicing, replicas: 2, resource: example.com/gpu")
    assert found == {}
