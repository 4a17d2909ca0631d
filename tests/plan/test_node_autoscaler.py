"""Node autoscalers get the nodes, labels, taints and order of the pools, and queues get their checks."""

import yaml

from policygen.documents.files import Source
from policygen.plan.compile import compile_plan
from policygen.plan.extras import NODE_AUTOSCALER
from policygen.spec.load import load

POOL = """
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {{name: {name}}}
spec:
  nodeSelector: {{{selector}}}
  gpu: {{product: NVIDIA-H100-80GB-HBM3, perNode: 8{gpu}}}
  capacity: {{{capacity}, nodeAllocatable: {{cpu: 64, memory: 512Gi}}}}
  autoscaler: {{{autoscaler}}}
  {more}
---
"""
SHARED = """
apiVersion: policygen.dev/v1alpha1
kind: Platform
metadata: {name: default}
spec: {sharedQueues: [{name: all, pools: [b, a]}]}
---
"""
TEAM = """
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata: {name: one}
spec:
  namespaces: [{name: one}]
  quotas: [{pool: a}, {pool: b}]
---
"""
CLASS = "nodeClass: {group: cloud.example.com, kind: GpuNodeClass, name: gpu}"


def pool(autoscaler, name="a", selector="pool: a", capacity="nodes: 4", gpu="", more=""):
    return POOL.format(
        name=name, selector=selector, capacity=capacity, gpu=gpu, autoscaler=autoscaler, more=more
    )


def made(*texts):
    """The rendered objects, by kind; the priorities as data."""
    loaded = load([Source("spec.yaml", "".join(texts), None)])
    assert not loaded.refused, loaded.findings
    plan = compile_plan(loaded.spec, frozenset({NODE_AUTOSCALER}))
    found = {}
    for item in plan.items:
        if item.kind.name != "ConfigMap" or item.kind.extra == NODE_AUTOSCALER:
            found.setdefault(item.kind.name, []).append(item.fields)
    return found, {it.rule.name for it in plan.hits}


def priorities(found):
    (file,) = found["ConfigMap"]
    return yaml.safe_load(file.data["priorities"])


def required(node_pool):
    return {it.key: it.value for it in node_pool.requirements}


def test_a_node_pool_has_the_nodes_of_its_pool():
    taints = "taints: [{key: gpu, value: '', effect: NoSchedule}]"
    ((node_pool,),) = [made(pool(CLASS, more=taints))[0]["NodePool"]]
    assert (node_pool.meta.name, node_pool.labels) == ("a", {"pool": "a"})
    assert node_pool.taints == ({"key": "gpu", "effect": "NoSchedule"},)
    assert node_pool.limits == {"nodes": "4", "nvidia.com/gpu": "32"}
    assert required(node_pool) == {"karpenter.sh/capacity-type": "on-demand"}
    assert node_pool.weight is None


def test_what_karpenter_knows_of_nodes_is_required_of_instances():
    """The label of a NodePool is its name: Karpenter refuses it as a label of the template."""
    selector = "karpenter.sh/nodepool: gpus, node.kubernetes.io/instance-type: p5.48xlarge, zone: x"
    (node_pool,) = made(pool(CLASS, selector=selector, more="provisioning: spot"))[0]["NodePool"]
    assert (node_pool.meta.name, node_pool.labels) == ("gpus", {"zone": "x"})
    assert required(node_pool) == {
        "karpenter.sh/capacity-type": "spot",
        "node.kubernetes.io/instance-type": "p5.48xlarge",
    }


def test_all_nodes_of_a_pool_count_also_those_with_reserved_gpus():
    capacity = "totalGPUs: 36, availableGPUs: 20"
    (node_pool,) = made(pool(CLASS, capacity=capacity))[0]["NodePool"]
    assert node_pool.limits == {"nodes": "5", "nvidia.com/gpu": "40"}


def test_shared_cards_are_not_limited_since_nodes_advertise_them_late():
    gpu = ", sharing: timeSlicing, replicas: 4"
    (node_pool,) = made(pool(CLASS, gpu=gpu))[0]["NodePool"]
    assert node_pool.limits == {"nodes": "4"}


def test_node_groups_of_alternatives_are_one_list():
    one = pool('nodeGroups: ["a-1: x", a-2]')
    other = pool("nodeGroups: [b-.*]", "b", "pool: b")
    found, _ = made(SHARED, one, other, TEAM)
    assert priorities(found) == {30: ["b-.*"], 20: ["a-1: x"], 10: ["a-2"]}
    found, _ = made(one, other, TEAM)
    assert priorities(found) == {20: ["a-1: x"], 10: ["a-2", "b-.*"]}


def test_the_first_pool_of_a_shared_queue_has_the_highest_weight():
    found, _ = made(SHARED, pool(CLASS), pool(CLASS, "b", "pool: b"), TEAM)
    assert {it.meta.name: it.weight for it in found["NodePool"]} == {"b": 2, "a": 1}


def test_queues_check_only_the_flavors_with_a_provisioning_class():
    requested = "provisioningClass: check-capacity.autoscaling.x-k8s.io"
    found, _ = made(SHARED, pool(requested), pool(CLASS, "b", "pool: b"), TEAM)
    (config,) = found["ProvisioningRequestConfig"]
    assert config.provisioning_class == "check-capacity.autoscaling.x-k8s.io"
    assert config.managed_resources == ("nvidia.com/gpu",)
    assert [it.meta.name for it in found["AdmissionCheck"]] == ["a"]
    assert [it.checks for it in found["ClusterQueue"]] == [("a",)]


def test_a_provisioning_class_without_kueue_is_inert():
    requested = "provisioningClass: queued-provisioning.gke.io"
    found, rules = made(pool(requested, more="scheduler: volcano"))
    assert "inert-setting" in rules
    assert not {"AdmissionCheck", "ProvisioningRequestConfig"} & found.keys()


def test_an_option_that_renders_nothing_is_reported():
    assert "inert-option" in made(pool("provisioningClass: a"))[1]
    assert "inert-option" not in made(pool("nodeGroups: [a]"))[1]
