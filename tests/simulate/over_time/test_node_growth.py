"""Nodes that an autoscaler adds and removes. Times and numbers are computed by hand."""

import io

import pytest

from policygen.app import simulate as app_simulate
from policygen.app import why as app_why
from policygen.app.requests import SimulateRequest
from policygen.core.errors import UsageError
from policygen.report.tables import TablePage
from policygen.report.why import text as why_text
from policygen.simulate.stranded import ABSENT
from policygen.simulate.why.fit_jobs import FitRequest
from policygen.simulate.why.start import Start
from tests.app.simulations import written
from tests.simulate.scenes import NODES, QUEUES, job

MINUTE, HOUR = 60.0, 3600.0
SPEC = """
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {name: a100}
spec:
  nodeSelector: {gpu: a100}
  gpu: {product: NVIDIA-A100-SXM4-80GB, perNode: 8}
  capacity: {nodes: 4, nodeType: a2-ultragpu-8g}
  scheduler: kueue
---
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata: {name: nlp}
spec:
  namespaces: [{name: nlp}]
  quotas: [{pool: a100, guarantee: 32}]
"""


def at(minutes, name, gpus, hours=1, pods=1, queue="a100"):
    times = f'policygen.dev/arrives-after: "{60 * minutes}", policygen.dev/runs-for: {hours}h'
    return job(name, gpus, pods, annotations=times, queue=queue)


def simulated(folder, text, *assumed, **more):
    spec = written(folder, SPEC, "spec.yaml")
    path = written(folder, text)
    request = SimulateRequest(specs=(spec,), workloads=(path,), assume=assumed, **more)
    return app_simulate.simulate(request)


def starts(report):
    return {it.name.removeprefix("nlp/"): it.started for it in report.result.jobs}


def test_a_node_comes_after_its_delay_and_leaves_when_it_is_empty(tmp_path):
    text = at(0, "a", 8) + at(0, "b", 8) + at(66, "c", 8) + at(90, "d", 8) + at(90, "e", 8)
    found = simulated(tmp_path, text, "nodes/a100=1..4:5m:10m")
    # a runs on the only node until 60m, and b on a new one from 5m to 65m. At 66m, c uses a node that is
    # empty, until 126m. The other node is empty from 60m or 65m on, and leaves 10 minutes later. So d and e
    # at 90m need two nodes, which come at 95m.
    assert starts(found) == {
        "a": 0,
        "b": 5 * MINUTE,
        "c": 66 * MINUTE,
        "d": 95 * MINUTE,
        "e": 95 * MINUTE,
    }
    (pool,) = found.result.pools
    assert (pool.gpus, pool.used_most, pool.most_nodes) == (32, 24, 3)
    assert found.notes[0] == (
        "pool a100 begins with 1 node, and an autoscaler adds nodes up to 4, each 5m after pods wait for it; it removes "
        "nodes that are empty for 10m, down to 1; at most 3 nodes existed"
    )


def test_free_gpus_of_nodes_that_do_not_exist_have_their_own_cause(tmp_path):
    found = simulated(tmp_path, at(0, "a", 8) + at(0, "b", 4), "nodes/a100=1..4:5m")
    (pool,) = found.result.pools
    # Until 5m, 24 GPUs do not exist, and b waits, which is no other cause. Then 16 GPUs until 65m, and 4 are
    # free beside b; from 60m to 65m, the 8 of a are free, too.
    assert pool.stranded == {
        ABSENT: 24 * 5 * MINUTE + 16 * 60 * MINUTE,
        "no job waits for them": 4 * 60 * MINUTE + 8 * 5 * MINUTE,
    }
    assert pool.used_mean == (8 * HOUR + 4 * HOUR) / (65 * MINUTE)


def test_small_pods_share_the_node_that_is_on_its_way(tmp_path):
    text = at(0, "a", 2, pods=4) + at(1, "b", 4) + at(2, "c", 4)
    found = simulated(tmp_path, text, "nodes/a100=0..4:5m")
    # The first node is for the four pods of a. It has no room for b, so a second one comes at 6m. It has
    # room for c, too.
    assert starts(found) == {"a": 5 * MINUTE, "b": 6 * MINUTE, "c": 6 * MINUTE}
    assert found.result.pools[0].most_nodes == 2


def test_no_node_is_added_for_a_pod_that_does_not_fit(tmp_path):
    found = simulated(tmp_path, at(0, "a", 9), "nodes/a100=1..4:5m")
    assert starts(found) == {"a": None}
    assert found.result.pools[0].most_nodes == 1
    assert found.result.jobs[0].never
    assert found.result.jobs[0].message.startswith(  # kube-scheduler does not know the other nodes
        "0/1 nodes are available: 1 Insufficient nvidia.com/gpu."
    )
    found = simulated(tmp_path, at(0, "a", 9), "nodes/a100=0..4:5m")
    assert found.result.jobs[0].message == "no nodes available to schedule pods"


def test_the_largest_number_of_nodes_is_not_exceeded(tmp_path):
    found = simulated(tmp_path, at(0, "a", 8, pods=3), "nodes/a100=0..2:5m")
    assert found.result.pools[0].most_nodes == 2
    assert found.result.pools[0].gpus == 16
    (a,) = found.result.jobs
    assert (a.started, sum(a.nodes.values())) == (None, 2)


def test_with_anti_affinity_each_pod_gets_a_node(tmp_path):
    one = at(0, "a", 1, pods=3).replace(
        "    spec:\n      restartPolicy",
        "    metadata: {labels: {app: a}}\n    spec:\n      affinity: {podAntiAffinity: "
        "{requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, "
        "labelSelector: {matchLabels: {app: a}}}]}}\n      restartPolicy",
    )
    found = simulated(tmp_path, one, "nodes/a100=1..4:5m")
    assert starts(found) == {"a": 5 * MINUTE}
    assert found.result.pools[0].most_nodes == 3


@pytest.mark.parametrize("idle", ["", ":1m"])
def test_without_a_delay_jobs_start_as_if_all_nodes_existed(tmp_path, idle):
    text = "".join(at(7 * i, f"j{i}", 8, pods=1 + i % 3) for i in range(20))
    every = simulated(tmp_path, text)
    assert starts(simulated(tmp_path, text, f"nodes/a100=0..4:0s{idle}")) == starts(every)


def test_nodes_of_a_cluster_exist_and_others_are_copies(tmp_path):
    text = (
        QUEUES.replace("nvidia.com/gpu, nominalQuota: 12", "nvidia.com/gpu, nominalQuota: 64")
        + NODES
    )
    text += "".join(at(0, f"j{i}", 8, queue="main") for i in range(4))
    request = SimulateRequest(workloads=(written(tmp_path, text),), assume=("nodes/a100=0..3:5m",))
    found = app_simulate.simulate(request)
    assert sorted(starts(found).values()) == [0, 0, 5 * MINUTE, 60 * MINUTE]
    nodes = {name for it in found.result.jobs for name in it.nodes}
    assert nodes == {"n0", "n1", "a100-0"}


def test_a_misspelled_pool_is_named(tmp_path):
    found = simulated(tmp_path, at(0, "a", 8), "nodes/a10=1..4:5m")
    assert (
        '--assume nodes/a10: no pool with nodes has this name; did you mean "a100"?' in found.notes
    )


def answer(folder, text, *names, at=None, nodes="1..4:5m"):
    """What `why` finds about jobs."""
    spec, path = written(folder, SPEC, "spec.yaml"), written(folder, text)
    request = SimulateRequest(specs=(spec,), workloads=(path,), assume=(f"nodes/a100={nodes}",))
    found = app_why.why(request, names, at=at)
    assert found.unmodelled == ()
    out = io.StringIO()
    why_text(found, TablePage(out))
    return found, out.getvalue()


def test_why_knows_when_a_node_comes(tmp_path):
    found, text = answer(tmp_path, at(0, "a", 8) + at(0, "b", 8) + at(0, "c", 8), "b")
    (b,) = found.found
    assert b.start == Start(5 * MINUTE, nodes=(("a100", 2),))
    assert "3 nodes: node(s) are not added yet." in text
    assert (
        "It starts in 5m, if no other job arrives. An autoscaler adds 2 nodes to a100 until then."
    ) in text


def test_why_knows_the_nodes_that_are_on_their_way(tmp_path):
    """At 2m, the node for b comes in 3m; a runs on the first one. At 6m, b runs, too."""
    jobs = at(0, "a", 8) + at(0, "b", 8)
    (b,) = answer(tmp_path, jobs, "b", at=2 * MINUTE)[0].found
    assert b.start == Start(3 * MINUTE, nodes=(("a100", 1),))
    (b,) = answer(tmp_path, jobs, "b", at=6 * MINUTE)[0].found
    assert not b.waits


def test_why_of_a_job_that_no_autoscaler_helps(tmp_path):
    """At most two nodes exist, and a has one of them for an hour: c, which came last, waits for it."""
    jobs = at(0, "a", 8) + at(0, "b", 8) + at(0, "c", 8)
    (c,) = answer(tmp_path, jobs, "c", at=6 * MINUTE, nodes="1..2:5m")[0].found
    assert c.start == Start(54 * MINUTE, ("nlp/a",), (54 * MINUTE,))
    (c,) = answer(tmp_path, at(0, "c", 9), "c")[0].found
    assert (c.cause.lasts, c.start) == (True, None)


@pytest.mark.parametrize(
    "nodes, pods, after",
    [("1..4:5m", 1, None), ("1..4:5m", 2, 5 * MINUTE), ("0..4:3m", 1, 3 * MINUTE)],
)
def test_fit_knows_when_nodes_come(tmp_path, nodes, pods, after):
    request = SimulateRequest(
        specs=(written(tmp_path, SPEC, "spec.yaml"),), assume=(f"nodes/a100={nodes}",)
    )
    found = app_why.would_fit(request, FitRequest("nlp", 8, pods))
    assert found.unmodelled == ()
    assert found.answer.explanation.waits == (after is not None)
    assert (found.answer.start and found.answer.start.after) == after


@pytest.mark.parametrize(
    "text", ["4", "..4", "1..", "5..4", "0..0", "1..4:x", "1..4:5m:5m:5m", "1..99999", "-1..4"]
)
def test_other_numbers_of_nodes_are_refused(tmp_path, text):
    with pytest.raises(UsageError, match=r"^--assume: "):
        simulated(tmp_path, at(0, "a", 8), f"nodes/a100={text}")
