"""Who may borrow from whom: limits of all nodes between the two, and preemption."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from policygen.explain.lending import Lending
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.workloads import Container, PodSpec, Resources
from policygen.simulate.kueue.build import pairs_of, state_of
from policygen.simulate.placement.shape import shape_of
from policygen.simulate.volcano.amounts import add, counted, empty, subtract
from policygen.simulate.volcano.build import queue_of, task_of
from policygen.simulate.volcano.capacity import ROOT as ROOT_QUEUE
from policygen.simulate.volcano.capacity import CapacityPlugin
from policygen.simulate.volcano.state import VolcanoQueue
from tests.explain import walk
from tests.strategies import specs

ROOT = Path(__file__).parents[2]
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
DRAWN = settings(
    max_examples=5,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


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


@DRAWN
@given(specs(schedulers=("kueue",)))
def test_the_quota_tree_of_kueue_lends_the_same(tmp_path_factory, documents):
    """All quota is in use; one unit that a node releases is available to exactly its borrowers."""
    path = tmp_path_factory.mktemp("spec") / "spec.yaml"
    path.write_text("\n---\n".join(map(json.dumps, documents)))
    compare(walk.opened(path))


@pytest.mark.parametrize("example", ["kueue-team-tree", "spot-and-on-demand", "serving-slices"])
def test_the_quota_trees_of_examples_lend_the_same(example):
    assert compare(walk.opened(ROOT / "examples" / example)) > 0


def below(node):
    yield node
    for child in node.children:
        yield from below(child)


def compare(found):
    """The number of pairs of a lender and a borrower."""
    cluster = Cluster([it.object for it in found.objects])
    pairs, state = pairs_of(cluster), state_of(cluster)
    roots = {it.node.root() for it in state.queues.values()}
    nodes = {node.name: node for root in roots for node in below(root)}
    number = 0
    for tree in found.compiled.plan.trees:
        lending = Lending(tree)
        for facts in tree.pools if any(tree.leaves) else ():
            for resource in facts.resources:
                pair = pairs[facts.name, resource]
                mine = [nodes[tree.queue], *(nodes[tree.name_of(it)] for it in tree.nodes)]
                for node in mine:
                    node.add(pair, node.nominal[pair])
                for lender in (None, *tree.nodes):
                    it = nodes[tree.queue if lender is None else tree.name_of(lender)]
                    if not it.nominal[pair]:
                        continue
                    it.remove(pair, 1)
                    free = {
                        leaf.name
                        for leaf in tree.leaves
                        if leaf is not lender and nodes[tree.name_of(leaf)].available(pair) > 0
                    }
                    it.add(pair, 1)
                    borrowers = lending.borrowers(lender, facts.name, resource)
                    assert free == {each.name for each in borrowers}
                    number += len(free)
    return number


@DRAWN
@given(specs(schedulers=("volcano",)))
def test_the_queues_of_volcano_lend_the_same(tmp_path_factory, documents):
    """All that teams can claim is in use; one unit that a queue releases is available to its borrowers."""
    path = tmp_path_factory.mktemp("spec") / "spec.yaml"
    path.write_text("\n---\n".join(map(json.dumps, documents)))
    compare_volcano(walk.opened(path))


def test_the_queues_of_volcano_in_an_example_lend_the_same():
    assert compare_volcano(walk.opened(ROOT / "examples" / "volcano-training")) > 0


def units(amounts):
    """Amounts of accelerators in the units of Volcano."""
    return counted({name: Fraction(it) for name, it in amounts.items() if "/" in name})


def compare_volcano(found):
    """The number of pairs of a lender and a borrower, with the plugin capacity of Volcano."""
    trees = [it for it in found.compiled.plan.trees if it.scheduler == "volcano" and any(it.leaves)]
    queues = [queue_of(it) for it in Cluster([it.object for it in found.objects]).queues]
    queues.append(VolcanoQueue(ROOT_QUEUE, reclaimable=False))
    total = empty()
    for facts in (facts for tree in trees for facts in tree.pools):
        add(total, units(facts.available))
    plugin = CapacityPlugin({it.name: it for it in queues}, (), total, hierarchy=True)
    assert not plugin.broken
    # Without preemption, queues reserve guarantees only in part: tests/servers/test_volcano_behaviour.py.
    lent = [it for it in trees if Lending(it).reclaims]
    return sum(compare_tree(plugin, it, name) for it in lent for name in it.pools[0].resources)


def compare_tree(plugin, tree, resource):
    """The same for a tree and a resource."""
    lending, (facts,) = Lending(tree), tree.pools
    queues = {
        it: plugin.shares[tree.name_of(it) if it else tree.queue] for it in (None, *tree.nodes)
    }
    spec = PodSpec(containers=(Container(resources=Resources(requests={resource: Fraction(1)})),))
    task = task_of("n/pod", shape_of(spec, {}, "n"), spec, {})
    one = units({resource: 1})
    for node, queue in queues.items():
        claim = lending.claim(node, facts.name, resource) if node else facts.available[resource]
        queue.allocated |= units({resource: claim})
    number = 0
    for lender in queues:
        if lending.own(lender, facts.name, resource) <= 0:
            continue
        above = [
            queues[it] for it in ((lender, *tree.ancestors(lender), None) if lender else (None,))
        ]
        for it in above:
            subtract(it.allocated, one)
        able = {it.name for it in tree.leaves if plugin.allocatable(queues[it].queue, task)}
        for it in above:
            add(it.allocated, one)
        borrowers = {it.name for it in lending.borrowers(lender, facts.name, resource)}
        assert able - {lender and lender.name} == borrowers, (tree.queue, lender, resource)
        number += len(borrowers)
    return number
