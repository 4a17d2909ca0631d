"""Sums of guarantees and limits: each excess is reported once, at the amount that is too large."""

import pytest


def place(found, rule):
    (it,) = [it for it in found.findings if it.rule.name == rule]
    return it.path


@pytest.mark.parametrize(
    ("a", "b", "rules"),
    [
        ("guarantee: 32", "guarantee: 32", []),
        ("guarantee: 32", "guarantee: 33", ["guarantees-above-available"]),
        ("guarantee: 4, limit: 3", "", ["limit-below-guarantee"]),
        ("limit: 65", "", ["limit-above-available"]),
        ("limit: 64", "limit: 64", []),
        ('guarantee: 1, cpu: {guarantee: "769"}', "", ["guarantees-above-available"]),
    ],
)
def test_root_teams_of_a_pool(planned, pool, team, a, b, rules):
    errors = [
        it.rule.name for it in planned(pool(), team("a", a), team("b", b)).findings
        if str(it.severity) == "error"
    ]  # fmt: skip
    assert errors == rules


def test_the_largest_guarantee_is_named(planned, pool, team):
    found = planned(pool(), team("a", "guarantee: 30"), team("b", "guarantee: 40"))
    (it,) = [it for it in found.findings if it.rule.name == "guarantees-above-available"]
    assert (it.object, it.path) == ("Team b", "spec.quotas[0].guarantee")
    assert '("a", "b") sum to 70 nvidia.com/gpu' in it.message


def test_children_share_what_their_parent_has(planned, pool, team):
    lab = team("lab", "guarantee: 8, limit: 16", namespaces=False)
    child = [team(name, "guarantee: 5", parent="lab") for name in "ab"]
    assert "guarantees-above-parent" in planned(pool(), lab, *child).rules
    assert planned(pool(), lab, child[0]).plan is not None
    above = team("a", "guarantee: 5, limit: 17", parent="lab")
    assert place(planned(pool(), lab, above), "limit-above-parent") == "spec.quotas[0].limit"


def errors(found):
    return [it for it in found.findings if str(it.severity) == "error"]


def test_a_pool_that_is_too_small_is_reported_once_with_all_that_is_to_be_lowered(
    planned, pool, team
):
    teams = [team(name, "guarantee: 30, limit: 70") for name in "abc"]
    [found] = errors(planned(pool(), *teams))
    assert found.rule.name == "guarantees-above-available"
    assert found.message.endswith(
        'lower the guarantees and the limits of teams "a", "b" and "c", or add nodes to the pool'
    )
    lowered = [team(name, "guarantee: 20, limit: 64") for name in "abc"]
    assert not errors(planned(pool(), *lowered))


def test_limits_of_several_teams_above_a_pool_are_one_finding(planned, pool, team):
    [found] = errors(planned(pool(), team("a", "limit: 70"), team("b", "limit: 80")))
    assert found.rule.name == "limit-above-available"
    assert '"a" (70 nvidia.com/gpu) and "b" (80 nvidia.com/gpu)' in found.message


def test_instances_of_one_card_are_one_finding(planned, pool, team):
    slices = """
  gpu:
    product: NVIDIA-A100-SXM4-40GB
    sharing: mig
    mig:
      instances: {1g.5gb: 2, 2g.10gb: 1}
  capacity:
    nodes: 2
    nodeType: a2-highgpu-8g
"""
    text = pool()
    text = text[: text.index("\n  gpu:")] + slices
    found = planned(text, team("a", "guarantee: {1g.5gb: 8, 2g.10gb: 4}"))
    [fault] = [it for it in found.findings if it.rule.severity > 0]
    assert "sum to 8 nvidia.com/mig-1g.5gb and 4 nvidia.com/mig-2g.10gb" in fault.message
    assert fault.message.endswith("write 1g.5gb: 32, 2g.10gb: 16")


TYPED = """
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {{name: p}}
spec:
  nodeSelector: {{pool: p}}
  gpu: {{product: NVIDIA-A100-SXM4-40GB, perNode: {}}}
  capacity: {{nodes: 4, nodeType: p4d.24xlarge}}
"""


@pytest.mark.parametrize(
    "per_node, quota, rules",
    [
        (4, "guarantee: 24", ["guarantees-above-available"]),
        (4, "limit: 24", ["limit-above-available"]),
        (4, "guarantee: 16", ["per-node-contradicts-node-type"]),
        # with the GPUs of the node type there would be even fewer
        (16, "guarantee: 70", ["guarantees-above-available", "per-node-contradicts-node-type"]),
    ],
)
def test_too_few_gpus_of_a_node_are_reported_once(planned, team, per_node, quota, rules):
    done = planned(TYPED.format(per_node), team("a", quota))
    found = [it for it in done.findings if str(it.severity) != "info"]
    assert sorted(it.rule.name for it in found) == rules
    assert any("gpu.perNode or capacity.nodeType" in it.message for it in found)


def test_a_node_of_wrong_memory_is_reported_once(planned, team):
    nodes = TYPED.format(8).replace(
        "nodeType: p4d.24xlarge", 'nodeAllocatable: {cpu: "96", memory: 900Mi}'
    )
    defaults = "containerDefaults: {cpu: 500m, memory: 1Gi}"
    (found,) = errors(planned(nodes, team("a", "guarantee: 8", more=defaults)))
    assert found.rule.name == "container-defaults-exceed-node"
    assert found.message.endswith("; correct the number or its unit")
    assert "node-allocatable-implausible" in planned(nodes, team("a", "guarantee: 8")).rules
