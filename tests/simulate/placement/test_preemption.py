"""Which pods are evicted for a pod of a higher priority."""

import pytest

from policygen.simulate.placement.preemption import NodePreemption, RunningPod, best, preemptions
from policygen.simulate.placement.scheduler import KubeScheduler
from tests.simulate.placement.made import node, shape

SMALL, LARGE = shape(), shape(cpu="3", memory="1Gi")
HOST = "kubernetes.io/hostname"
APART = f"""
affinity:
  podAntiAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      - {{topologyKey: {HOST}, labelSelector: {{matchLabels: {{app: a}}}}}}
"""


def found(nodes, pods, pod=LARGE, priority=10):
    """The names of the victims by node; `pods`: name, node, shape, priority, start."""
    scheduler, running = KubeScheduler(nodes), {}
    for name, at, one, of, started in pods:
        scheduler.bind(one, at)
        running.setdefault(at, []).append(RunningPod(name, one, of, started))
    before = scheduler.refusals(pod)
    them = list(preemptions(scheduler, pod, priority, running))
    assert scheduler.refusals(pod) == before
    assert before.keys() >= {it.node for it in them}
    return {it.node: [one.name for one in it.victims] for it in them}, best(them)


def test_as_few_pods_as_needed_go_the_less_important_first():
    pods = [("old", 0, SMALL, 5, 1), ("new", 0, SMALL, 5, 2), ("low", 0, SMALL, 0, 0)]
    assert found([node()], pods)[0] == {0: ["new", "low"]}  # 3 of 4 cores are needed, 1 is free


def test_pods_of_the_same_or_a_higher_priority_stay():
    assert found([node()], [("a", 0, LARGE, 10, 1), ("b", 0, SMALL, 11, 1)])[0] == {}


def test_a_node_that_is_too_small_or_that_a_taint_closes_is_not_tried():
    nodes = [node("a", cpu=2), node("b", taints=["NoSchedule"]), node("c")]
    pods = [(f"p{i}", i, SMALL, 0, 1) for i in range(3)] + [("q", 2, SMALL, 0, 2)]
    assert found(nodes, pods)[0] == {2: ["q"]}


def test_anti_affinity_is_opened():
    pods = [("a", 0, shape(app="a"), 0, 1), ("b", 0, shape(app="b"), 0, 2)]
    assert found([node()], pods, shape(APART))[0] == {0: ["a"]}


def made(at, *victims):
    return NodePreemption(
        at, tuple(RunningPod(f"p{i}", SMALL, *it) for i, it in enumerate(victims))
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([(4, 1)], [(5, 1)]),  # a lower highest priority
        ([(4, 1), (1, 1)], [(4, 1), (2, 1)]),  # a lower sum
        ([(4, 1)], [(4, 1), (-9, 1)]),  # fewer pods
        ([(4, 2), (1, 0)], [(4, 1), (1, 9)]),  # the most important one started later
    ],
)
def test_the_best(one, other):
    assert [it.node for it in best([made(0, *one), made(1, *other)])] == [0]
    assert [it.node for it in best([made(0, *other), made(1, *one)])] == [1]


def test_equal_ones_are_a_tie():
    assert len(best([made(0, (4, 1)), made(1, (4, 1))])) == 2
    assert best([]) == ()
