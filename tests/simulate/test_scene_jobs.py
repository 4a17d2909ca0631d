"""The jobs of manifests and snapshots."""

import pytest
from msgspec.structs import replace

from policygen.kubernetes.node_filters import REQUIRED
from policygen.kubernetes.node_groups import Stated
from policygen.simulate.scene import implied_names
from policygen.simulate.scene_jobs import arrivals
from tests.objects import DAEMON_SET
from tests.simulate.scenes import NODES, QUEUES, WORKLOAD, job, played, scene


def test_annotations_set_the_times_of_a_job():
    text = job("a", 12, annotations="policygen.dev/arrives-after: 10m, policygen.dev/runs-for: 30s")
    found = played(QUEUES + text)["nlp/a"]
    assert (found.started, found.ended) == (600, 630)


def test_a_workload_of_the_input_is_not_counted_twice():
    found = played(QUEUES + WORKLOAD + job("a", 8) + job("b", 8))
    assert set(found) == {"nlp/a", "nlp/b"}
    assert found["nlp/a"].ended == 3600
    assert found["nlp/b"].started == 3601


RECLAIMABLE = (
    WORKLOAD.replace("count: 1", "count: 4").replace(
        "{cpu: 4, nvidia.com/gpu: 8}", "{cpu: 16, nvidia.com/gpu: 12}"
    )
    + "  reclaimablePods: [{name: main, count: 2}]\n"
)


@pytest.mark.parametrize("owner", [job("a", 3, 4), ""])
@pytest.mark.parametrize("holds", [True, False])
def test_pods_that_have_ended_use_no_quota_while_others_of_their_job_run(owner, holds):
    workload = RECLAIMABLE
    if not holds:  # an eviction, after which the other pods begin again
        workload = workload.replace("  admission:", "  earlier:").replace('"True"', '"False"')
        workload = workload.replace(
            "  reclaimable",
            """\
  resourceRequests: [{name: main, resources: {cpu: 8, nvidia.com/gpu: 6}}]
  reclaimable""",
        )
    found = played(QUEUES + workload + owner + job("b", 6))
    assert [it.started for it in found.values()] == [0, 0]


CLASSES = """
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: polite}
value: 9
preemptionPolicy: Never
"""


def test_pods_of_a_class_with_the_policy_never_preempt_nothing():
    low = job("low", 8, 2, queue="", annotations="policygen.dev/runs-for: 1h")
    high = job("high", 8, queue="", annotations="policygen.dev/arrives-after: 1m").replace(
        "restartPolicy", "priorityClassName: polite\n      restartPolicy"
    )
    assert played(QUEUES + NODES + CLASSES + low + high)["nlp/high"].started == 3600
    rude = CLASSES.replace("preemptionPolicy: Never", "")
    assert played(QUEUES + NODES + rude + low + high)["nlp/high"].started == 60


def test_kueue_ends_a_job_after_its_maximum_time():
    label = "kueue.x-k8s.io/queue-name: main, kueue.x-k8s.io/max-exec-time-seconds: '60'"
    found = played(QUEUES + job("a", 8).replace("kueue.x-k8s.io/queue-name: main", label))["nlp/a"]
    assert (found.started, found.ended, found.ran) == (0, None, 60)


def test_jobs_of_two_kinds_with_one_name_have_their_kind_in_the_name():
    other = (
        job("a", 8, queue="")
        .replace("kind: Job", "kind: Deployment")
        .replace("batch/v1", "apps/v1")
    )
    assert set(played(QUEUES + job("a", 8) + other)) == {"nlp/a (Job)", "nlp/a (Deployment)"}
    found = arrivals(scene(QUEUES + job("a", 8) + other))
    assert {it.object_name for it in found} == {"nlp/a"}


@pytest.mark.parametrize(
    "written, named",
    [
        ("nodeSelector: {kubernetes.io/hostname: gpu-1}", True),
        ("nodeSelector: {kubernetes.io/hostname: a100-0}", False),
        ("nodeName: gpu-1", True),
        (
            "affinity: {nodeAffinity: {REQUIRED: {nodeSelectorTerms: [{matchFields: [NAME]}]}}}",
            True,
        ),
        (
            "affinity: {nodeAffinity: {REQUIRED: {nodeSelectorTerms: [{matchFields: [NAME]}, ANY]}}}",
            False,
        ),
        (
            "affinity: {nodeAffinity: {REQUIRED: {nodeSelectorTerms: [OTHER]}}}",
            False,
        ),
    ],
)
def test_nodes_of_a_spec_have_no_names(written, named):
    """Those of its nodes in a simulation are made up. Listed nodes have names."""
    field = written.replace("REQUIRED", REQUIRED)
    field = field.replace("NAME", "{key: metadata.name, operator: In, values: [gpu-1]}")
    field = field.replace("ANY", "{matchExpressions: [{key: gpu, operator: Exists}]}")
    other = "{key: kubernetes.io/hostname, operator: NotIn, values: [gpu-1]}"
    field = field.replace("OTHER", f"{{matchExpressions: [{other}]}}")
    text = QUEUES + job("a", 8).replace(
        "restartPolicy: Never", f"restartPolicy: Never\n      {field}"
    )
    nodes = [
        replace(it, name=f"a100-{i}", stated=Stated.PART)
        for i, it in enumerate(scene(text + NODES).nodes)
    ]
    implied = replace(scene(text), nodes=tuple(nodes))
    (found,) = arrivals(implied)
    assert len(implied_names(implied)) == len(nodes)
    assert not implied_names(scene(text + NODES))
    assert (found.unknown, found.refusal.startswith("its pods name a node")) == (named, named)
    (found,) = arrivals(scene(text + NODES))
    assert not found.refusal


def test_a_job_of_more_than_a_million_pods_is_not_simulated():
    """Each pod takes memory and time, and no cluster runs so many."""
    (found,) = arrivals(scene(QUEUES + job("a", 1, pods=2_000_000_000)))
    assert found.unknown
    assert found.refusal == (
        "it has 2,000,000,000 pods, and a simulation creates at most 1,000,000 of a job"
    )
    assert not found.pods
    (found,) = arrivals(scene(QUEUES + job("a", 1, pods=1_000_000)))
    assert not found.refusal


@pytest.mark.parametrize(
    ("selector", "nodes", "started"),
    [("", ("n0", "n1", "cpus"), None), ("nodeSelector: {gpu: h100}", (), 0)],
)
def test_a_daemon_set_has_a_pod_on_each_node_that_takes_it(selector, nodes, started):
    daemon = DAEMON_SET.replace("cpu: 3, memory: 1Gi", "cpu: 61")
    found = played(QUEUES + NODES + daemon % selector + job("a", 8))
    agent = found["monitoring/agent"]
    assert agent.arrival.nodes == nodes
    assert agent.arrival.refusal == ("" if nodes else "no node takes its pods")
    assert found["nlp/a"].started == started
