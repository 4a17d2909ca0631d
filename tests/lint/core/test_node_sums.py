"""Bounds that no placement of pods on nodes keeps."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from policygen.lint.core.excess_words import fault
from policygen.lint.core.node_sums import (
    Beside,
    NodeExcess,
    PodExcess,
    SumExcess,
    excess_with,
    node_sums,
    room_beside,
)
from policygen.lint.core.pod_demands import pod_demands
from policygen.lint.core.queue_rooms import queue_rooms
from policygen.lint.core.rules import replicas_exceed_queue
from tests.objects import facts

NODE = """
apiVersion: v1
kind: Node
metadata: {name: n%d, labels: {pool: %s}}
status: {allocatable: {nvidia.com/gpu: %d}}
---
"""
WORKLOAD = """
apiVersion: %s
metadata: {name: w%d, namespace: a}
spec:
  replicas: %d
  template:
    spec:
      nodeSelector: {%s}
      containers: [{name: a, image: a, resources: {limits: {nvidia.com/gpu: %d}}}]
---
"""
DEPLOYMENT, JOB = "apps/v1\nkind: Deployment", "batch/v1\nkind: Job"


def sums(nodes, pods, kind=DEPLOYMENT):
    text = "".join(NODE % (i, pool, gpus) for i, (pool, gpus) in enumerate(nodes))
    for i, (replicas, gpus, selector) in enumerate(pods):
        text += WORKLOAD % (kind, i, replicas, selector, gpus)
    found = node_sums(facts(text.removesuffix("---\n"))).excesses
    return [
        ([it.workload.name for it in each.members], each.nodes, *amounts(each)) for each in found
    ]


def amounts(excess):
    match excess:
        case SumExcess(requested=requested, have=have):
            return requested, have, 0
        case NodeExcess(needed=needed, size=size):
            return needed, size, None
        case PodExcess(pods=pods, room=room, least=least):
            return pods, room, least


TWO = [("a", 8), ("a", 8)]


def test_sums_and_numbers_of_large_pods():
    assert sums(TWO, [(2, 4, ""), (2, 4, "")]) == []
    assert sums(TWO, [(2, 4, ""), (3, 4, "")]) == [(["w0", "w1"], 2, 20, 16, 0)]
    assert sums(TWO, [(2, 5, ""), (1, 6, "")]) == [(["w0", "w1"], 2, 3, 8, None)]
    assert sums([*TWO, ("a", 4)], [(2, 5, ""), (1, 6, "")]) == [(["w0", "w1"], 2, 3, 8, None)]
    assert sums([*TWO, ("a", 7)], [(3, 5, ""), (1, 6, "")]) == [(["w0", "w1"], 3, 4, 3, 5)]
    assert sums(TWO, [(2, 5, ""), (2, 3, "")]) == []
    assert sums(TWO, [(2, 5, ""), (1, 4, "")]) == [(["w0", "w1"], 2, 3, 8, None)]
    assert sums([*TWO, ("a", 4)], [(2, 5, ""), (1, 4, "")]) == []


PORTS = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: w%d, namespace: a}
spec:
  replicas: 1
  template: {spec: {containers: [{name: a, image: a, ports: [{containerPort: 80, hostPort: %d}]}]}}
"""


def test_each_resource_whose_sum_is_too_large_is_named():
    text = "".join(NODE % (i, "a", 8) for i in range(2)).replace(
        "gpu: 8", "gpu: 8, cpu: 64, pods: 4"
    )
    for i in range(2):
        text += (WORKLOAD % (DEPLOYMENT, i, 3, "", 3)).replace("gpu: 3", "gpu: 3, cpu: 22")
    [excess] = node_sums(facts(text.removesuffix("---\n"))).excesses
    assert fault(excess) == (
        "the pods of Deployment a/w0 and Deployment a/w1 together request 18 nvidia.com/gpu and 132 cores, but the 2 "
        "nodes that can take them have 16 nvidia.com/gpu and 128 cores"
    )
    [excess] = node_sums(facts(text.removesuffix("---\n").replace("cpu: 22", "cpu: 1"))).excesses
    assert fault(excess).endswith(
        "request 18 nvidia.com/gpu, but the 2 nodes that can take them have 16"
    )


def test_host_ports_are_resources():
    node = NODE % (0, "a", 8)
    same = node_sums(facts(node + PORTS % (0, 80) + "---" + PORTS % (1, 80))).excesses
    assert [(it.resource, it.requested, it.have) for it in same] == [("host port 80", 2, 1)]
    assert not node_sums(facts(node + PORTS % (0, 80) + "---" + PORTS % (1, 81))).excesses


def test_only_pods_that_need_these_nodes_count():
    nodes = [*TWO, ("b", 8)]
    assert sums(nodes, [(2, 8, ""), (1, 8, "pool: a")]) == []
    both = [(2, 8, "pool: a"), (1, 8, "pool: a"), (1, 8, "")]
    assert sums(nodes, both) == [(["w0", "w1"], 2, 24, 16, 0)]
    assert sums(nodes, [(2, 8, "pool: a"), (2, 8, "")]) == [(["w0", "w1"], 3, 32, 24, 0)]


def test_jobs_and_workloads_without_room_of_their_own_are_left_out():
    assert sums(TWO, [(2, 8, ""), (2, 8, "")], JOB) == []
    assert sums(TWO, [(3, 8, ""), (1, 8, "")]) == []


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.sampled_from([2, 3, 4]), min_size=1, max_size=3),
    st.lists(st.tuples(st.integers(1, 2), st.integers(1, 4)), min_size=2, max_size=3),
)
def test_what_is_reported_has_no_placement(nodes, pods):
    if sums([("a", gpus) for gpus in nodes], [(*each, "") for each in pods]):
        sizes = [gpus for replicas, gpus in pods for _ in range(replicas)]
        assert not any(
            all(
                sum(size for size, on in zip(sizes, way, strict=True) if on == i) <= have
                for i, have in enumerate(nodes)
            )
            for way in product(range(len(nodes)), repeat=len(sizes))
        )


QUEUES = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: a}
spec: {nodeLabels: {pool: a}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: all}
spec:
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors: [{name: a, resources: [{name: nvidia.com/gpu, nominalQuota: 14}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: a, namespace: a}
spec: {clusterQueue: all}
---
"""
LABEL = "labels: {kueue.x-k8s.io/queue-name: a}, "


def _queued(*pods, quota=14):
    text = QUEUES.replace("nominalQuota: 14", f"nominalQuota: {quota}")
    text += "".join(NODE % (i, pool, gpus) for i, (pool, gpus) in enumerate(TWO))
    for i, (replicas, gpus) in enumerate(pods):
        text += WORKLOAD.replace("{name: w", f"{{{LABEL}name: w") % (
            DEPLOYMENT,
            i,
            replicas,
            "",
            gpus,
        )
    return replace(facts(text.removesuffix("---\n")), run=frozenset({"replicas-exceed-queue"}))


def test_the_room_beside_other_workloads():
    given_ = _queued((15, 1), (2, 2))
    first, other = queue_rooms(given_)
    assert (first.pods, other.pods) == (14, 7)
    assert room_beside(given_, first) == Beside(12, ("Deployment a/w1",))
    assert room_beside(_queued((15, 1)), first) is None


@pytest.mark.parametrize(
    ("gpus", "remedy"), [(6, "set replicas to 4, because"), (8, "set replicas to 16 and add nodes, because")]
)  # fmt: skip
def test_the_number_of_pods_that_is_proposed_has_room_beside_other_workloads(gpus, remedy):
    given_ = _queued((17, 1), (2, gpus), quota=16)
    [hit] = replicas_exceed_queue.check(given_)
    assert hit.message.endswith(f"; {remedy} Deployment a/w1 also needs these nodes")


def test_pods_without_room_in_their_queue_do_not_count():
    assert node_sums(_queued((15, 1), (2, 1))).excesses == ()
    [excess] = node_sums(_queued((15, 1), (3, 1))).excesses
    assert (excess.requested, excess.have) == (17, 16)


def test_a_limit_of_the_comparisons_is_reported(run, monkeypatch, tmp_path):
    """The first sum is reported, and the second is not checked any more."""
    text = "".join(NODE % (i, pool, 8) for i, pool in enumerate("ab"))
    for i, pool in enumerate("aabb"):
        text += WORKLOAD % (DEPLOYMENT, i, 1, f"pool: {pool}", 8)
    file = tmp_path / "all.yaml"
    file.write_text(text.removesuffix("---\n"))
    command = ("lint", "--manifests", file, "--partial", "--rule", "workloads-exceed-nodes")
    assert run(*command)[1].count("[workloads-exceed-nodes]") == 2
    monkeypatch.setattr("policygen.lint.core.node_sums._MOST_ADDED", 0)
    _, out, err = run(*command)
    assert out.count("[workloads-exceed-nodes]") == 1
    line = "warning: rule workloads-exceed-nodes was not evaluated completely: lint compares only"
    assert line in out + err
    monkeypatch.setattr("policygen.lint.core.node_sums._MOST_ADDED", -1)
    _, out, err = run(*command)
    assert "[workloads-exceed-nodes]" not in out
    assert line in out + err
    code, out, err = run(*command, "--rule", "pod-fits-no-node")
    assert (code, out.count("no findings")) == (0, 0)
    assert line in out + err
    assert run(*command, "--rule", "pod-fits-no-node", "--fail-on", "warning")[0] == 1
    assert line not in "".join(run(*command[:-2], "--skip", "workloads-exceed-nodes")[1:])


PRIORITIES = """
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 1000%s
---
"""


@pytest.mark.parametrize(
    ("pods", "selector", "own", "policy", "found"),
    [
        (1, "", "", "", (["w0", "w1"], 17, 16)),
        (1, "pool: a", "", "", (["w0", "w1"], 17, 16)),
        (1, "", "high", "", None),
        (1, "", "high", "\npreemptionPolicy: Never", (["w0", "w1"], 17, 16)),
        (1, "pool: b", "", "", None),
        (0, "", "", "", None),
    ],
)
def test_more_pods_beside_others(pods, selector, own, policy, found):
    """They have no room beside pods that fill all nodes that take them, and that they may not evict."""
    given_ = PRIORITIES % policy
    given_ += "".join(NODE % (i, "a", 8) for i in range(2)) + NODE % (2, "b", 8)
    given_ += WORKLOAD % (DEPLOYMENT, 0, 2, "pool: a", 8)
    asking = WORKLOAD % (JOB, 1, 1, selector or "pool: a", 1)
    text = given_ + asking.replace(
        "nodeSelector", f"priorityClassName: '{own}'\n      nodeSelector"
    )
    all_facts = facts(text.removesuffix("---\n"))
    [_, it] = pod_demands(all_facts)
    excess = excess_with(all_facts, it, pods)
    assert found == (
        excess and ([each.workload.name for each in excess.members], excess.requested, excess.have)
    )


def test_updates_with_one_cause_are_reported_once(run, tmp_path):
    text = "".join(NODE % (i, "a", 8) for i in range(2))
    text += "".join(WORKLOAD % (DEPLOYMENT, i, 1, "", 8) for i in range(2))
    (tmp_path / "all.yaml").write_text(text.removesuffix("---\n"))
    command = ("lint", "--manifests", tmp_path, "--partial", "--rule", "rollout-exceeds-nodes")
    out = run(*command)[1]
    assert out.count("[rollout-exceeds-nodes]") == 1
    assert "use 16 of the 16 nvidia.com/gpu of the 2 nodes that can take them" in out
    assert "an update of Deployment a/w0 or Deployment a/w1 first creates a new pod" in out
    assert out.count("in each of them") == 1
