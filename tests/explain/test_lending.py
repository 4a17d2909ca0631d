"""Who may borrow from whom: limits of all nodes between the two, and preemption."""

from policygen.explain.lending import Lending

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
    return [it.name for it in Lending(tree).borrowers(node, "p", GPU)]


def test_borrowers(planned):
    tree = trees(planned)
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


def test_volcano_lends_what_teams_deserve(planned):
    """`b` deserves all that no team is guaranteed, 12 of 32, so the pool has no rest."""
    tree = trees(planned, "volcano")
    lending = Lending(tree)
    node = tree.by_team["b"]
    assert (lending.claim(node, "p", GPU), lending.room(node, "p", GPU)) == (12, 20)
    assert (names(tree, None), lending.own(None, "p", GPU)) == ([], 0)
    assert lending.lenders(node, "p", GPU) == ("a", "c", "a1")
    reserved = Lending(trees(planned, "volcano", "false"))
    assert (reserved.claim(node, "p", GPU), reserved.reclaims) == (4, False)
