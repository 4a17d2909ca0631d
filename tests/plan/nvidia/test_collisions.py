"""Nodes of different pools never get the same configuration by a name that is used twice."""

import pytest

from policygen.documents.files import Source
from policygen.plan.compile import compile_plan
from policygen.plan.extras import DEVICE_PLUGIN, MIG_MANAGER
from policygen.spec.load import load

POOL = """---
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {{name: {name}}}
spec:
  nodeSelector: {{{selector}}}
  gpu: {{product: {product}, perNode: 8, {gpu}}}
  capacity: {{nodes: 3, nodeAllocatable: {{cpu: 96, memory: 1000Gi}}}}
"""


def collisions(*pools, product="NVIDIA-A100-SXM4-80GB"):
    text = "".join(
        POOL.format(name=name, selector=selector or f"pool: {name}", gpu=gpu, product=product)
        for name, selector, gpu in pools
    )
    spec = load([Source("spec.yaml", text, None)]).spec
    plan = compile_plan(spec, frozenset({DEVICE_PLUGIN, MIG_MANAGER}))
    assert plan.refused == any(it.rule.name == "name-collision" for it in plan.hits)
    return [it.message.split('"')[1] for it in plan.hits if it.rule.name == "name-collision"]


def shared(replicas):
    return f"sharing: timeSlicing, replicas: {replicas}"


def mig(count):
    return f"sharing: mig, mig: {{instances: {{1g.10gb: {count}}}}}"


@pytest.mark.parametrize(
    "pools, names",
    [
        ([("default", "", shared(4))], ["default"]),
        ([("default", "", "sharing: none"), ("a", "", shared(4))], []),
        ([("all-disabled", "", mig(168))], ["all-disabled"]),
        # Nodes of "a" need two layouts, of which the second is a-2.
        ([("a", "", mig(167)), ("a-2", "", mig(168))], ["a-2"]),
        ([("a", "", mig(168)), ("a-2", "", mig(168))], []),
    ],
)
def test_a_name_that_is_used_twice_is_refused(pools, names):
    assert collisions(*pools) == names


@pytest.mark.parametrize("replicas, names", [(4, []), (8, ["same"])])
def test_pools_of_one_label_value_share_one_configuration(replicas, names):
    label = "nvidia.com/device-plugin.config: same, pool: "
    assert collisions(("a", f"{label}a", shared(4)), ("b", f"{label}b", shared(replicas))) == names
