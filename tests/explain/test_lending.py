"""Who may borrow from whom: limits of all nodes between the two, and preemption."""

import pytest

from policygen.explain import lending

POOL = """
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {name: p}
spec:
  nodeSelector: {pool: p}
  gpu: {product: h100-80gb}
  capacity: {nodes: 4, nodeType: a3-highgpu-8g}
  scheduler: %s
  schedulingPolicy: {preemptionEnabled: %s}
"""
TEAM = """
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata: {name: %s}
spec:
  %s
  namespaces: [{name: %s}]
  quotas: [{pool: p, guarantee: %s, limit: %s}]
"""
GPU = "nvidia.com/gpu"


def trees(planned, scheduler="kueue", preempts="true"):
    """`b` may borrow, `a1` only within its parent, and `c` nothing."""
    return planned(
        POOL % (scheduler, preempts),
        TEAM % ("a", "", "a", 16, 16),
        TEAM % ("a1", "parent: a", "a1", 4, 16),
        TEAM % ("b", "", "b", 4, 32),
        TEAM % ("c", "", "c", 4, 4),
    ).plan.trees[0]


def names(tree, lender):
    node = None if lender is None else next(it for it in tree.nodes if it.name == lender)
    return [it.name for it in lending.borrowers(tree, node, "p", GPU)]


@pytest.mark.parametrize("scheduler", ["kueue", "volcano"])
def test_borrowers(planned, scheduler):
    tree = trees(planned, scheduler)
    assert names(tree, None) == ["b"]
    assert names(tree, "a1") == ["a.own", "b"]
    assert sorted(names(tree, "a.own")) == ["a1", "b"]
    assert names(tree, "b") == []
    assert names(tree, "c") == ["b"]
    assert names(tree, "a") == []  # its children have all of its guarantee


def test_without_preemption_teams_lend_nothing(planned):
    tree = trees(planned, preempts="false")
    assert (names(tree, "c"), names(tree, None)) == ([], ["b"])


def test_nothing_is_lent_without_queues(planned):
    assert names(trees(planned, "kube-scheduler"), "c") == []
