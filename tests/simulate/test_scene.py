"""Scenes of specs and manifests."""

from fractions import Fraction

import pytest

from policygen.core.versions import DEFAULT
from policygen.kubernetes.accelerators import gpus_of
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.kueue_settings import first
from policygen.simulate.scene import Scene
from policygen.simulate.scene_jobs import arrivals
from policygen.simulate.scene_pools import cluster_nodes
from policygen.simulate.scene_schedulers import kube_scheduler, kueue_scheduler, topology_nodes
from policygen.simulate.why.explainer import Explainer
from tests.client.looks import snapshot
from tests.simulate.scenes import NODES, QUEUES, WORKLOAD, job, played, ran, scene
from tests.simulate.test_topologies_over_time import RACK, STATE, required


def test_pools_are_the_flavors_with_gpus_and_count_their_nodes():
    (pool,) = scene(QUEUES + NODES).pools
    assert (pool.name, pool.gpus, pool.nodes) == ("a100", 16, {"n0", "n1"})


def test_without_nodes_a_pool_has_what_the_quotas_say():
    found = scene(QUEUES)
    assert found.pools[0].gpus == 12
    assert kube_scheduler(found) is None


def test_gpus_of_any_kind_are_counted():
    amounts = {
        "cpu": Fraction(1),
        "nvidia.com/gpu": Fraction(2),
        "nvidia.com/mig-1g.5gb": Fraction(3),
    }
    assert gpus_of(amounts) == 5


def test_a_running_workload_holds_its_quota():
    text = QUEUES + WORKLOAD
    it = scene(text)
    (found,) = arrivals(it)
    queue = kueue_scheduler(it, [found]).state.queues["nlp"]
    assert [queue.node.usage[i] for i in range(2)] == [4000, 8]


def test_quota_decides_first_and_then_nodes():
    """Of 16 GPUs, 12 are quota. The fourth job waits for quota until the others end, and Kueue retries it 1 second later."""
    found = played(QUEUES + NODES + job("a", 5) + job("b", 5) + job("c", 2) + job("d", 2))
    assert [found[f"nlp/{it}"].started for it in "abc"] == [0, 0, 0]
    assert found["nlp/d"].started == 3601


def test_pods_that_kueue_does_not_manage_go_to_kube_scheduler():
    found = played(QUEUES + NODES + job("a", 8, queue="") + job("b", 8, queue="") + job("c", 8))
    assert found["nlp/c"].admitted == 0
    assert found["nlp/c"].started == 3600


def pod(owner, node, annotations=""):
    return f"""
---
apiVersion: v1
kind: Pod
metadata: {{name: {owner}-{node}, namespace: nlp, annotations: {{{annotations}}}, ownerReferences: [{{apiVersion: batch/v1, kind: Job, name: {owner}, uid: u, controller: true}}]}}
spec: {{nodeName: {node}, containers: [{{name: main, resources: {{requests: {{cpu: 4}}, limits: {{nvidia.com/gpu: 8}}}}}}]}}
status: {{phase: Running}}
"""


def assigned(*hosts):
    """The Workload of job a, whose pods Kueue placed on these hosts."""
    roots = ", ".join(f"'{it[1:]}'" for it in hosts)
    values = f"{{individual: {{prefix: a, roots: [{roots}]}}}}"
    part = f"{{domainCount: {len(hosts)}, valuesPerLevel: [{values}], podCounts: {{universal: 1}}}}"
    levels = "levels: [kubernetes.io/hostname]"
    count, gpus, cpu = len(hosts), 8 * len(hosts), 4 * len(hosts)
    return (
        WORKLOAD.replace("count: 1", f"count: {count}")
        .replace("nvidia.com/gpu: 8}", f"nvidia.com/gpu: {gpus}}}")
        .replace("{cpu: 4,", f"{{cpu: {cpu},")
        .replace(
            "resourceUsage", f"topologyAssignment: {{{levels}, slices: [{part}]}}, resourceUsage"
        )
    )


def seen_scene(text):
    seen = snapshot(text)
    objects = Cluster(seen.objects, seen.seen, seen.pods)
    return Scene(objects, first(objects, DEFAULT["kueue"]), cluster_nodes(objects))


def test_pods_that_kueue_did_not_place_use_topologies():
    """Kueue placed the pod of job a on a0. Of the other pods, it does not count the one that asks for a topology."""
    asks = f"kueue.x-k8s.io/podset-required-topology: {RACK}"
    pods = pod("a", "a0") + pod("b", "b0") + pod("c", "b1", asks)
    jobs = required("a", 8, 1) + job("b", 8, queue="") + job("c", 8, queue="")
    it = seen_scene(STATE + assigned("a0") + jobs + pods)
    running = arrivals(it)
    _, used = topology_nodes(it, running)
    assert used == {"b0": {"cpu": 4000, "nvidia.com/gpu": 8, "pods": 1}}
    (admission,) = (one.workload.admission for one in running if one.workload is not None)
    assert [it.pods for it in admission.placements()] == [{"a0": 1}]


def test_a_topology_assignment_counts_before_pods_are_bound():
    """Kueue has admitted job a to both hosts of rack a, but at most one of its pods is on a node."""
    late = required("late", 8, 2) + job("b", 8, 2, queue="")
    for pods in ("", pod("a", "a1")):
        text = STATE + assigned("a0", "a1") + required("a", 8, 2) + late + pods
        text += pod("b", "b0") + pod("b", "b1")
        it = seen_scene(text)
        explainer = Explainer(it, arrivals(it))
        (target,) = explainer.named("nlp/late")
        found = explainer.explain(target)
        assert found.cause.kind.value == "topology-domains-full"
        assert 'topology "racks" doesn\'t allow to fit any of 2 pod(s)' in found.cause.message
        (run, *_) = ran(it, until=0)
        assert sorted(run.last_nodes) == [0, 1]  # a0 and a1


def test_an_assignment_of_another_topology_is_not_used():
    text = assigned("a0").replace("levels: [kubernetes.io/hostname]", "levels: [other]")
    (found,) = arrivals(seen_scene(STATE + text + required("a", 8, 1)))
    assert found.workload.admission.placements() == []


OF_CRON_JOB = """
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: night, namespace: nlp}
spec:
  schedule: "0 22 * * *"
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers: [{name: main, resources: {limits: {nvidia.com/gpu: 8}}}]
"""
OWNED = "ownerReferences: [{apiVersion: batch/v1, kind: CronJob, name: night, uid: c, controller: true}]"


@pytest.mark.parametrize(("queue", "pods"), [("main", True), ("main", False), ("", True)])
def test_the_runs_of_a_cron_job_are_jobs_of_their_own(queue, pods):
    """The pods belong to the Job for which Kueue made a Workload, not to the CronJob."""
    run = job("a", 8, queue=queue).replace("name: a,", f"name: a, {OWNED},", 1)
    assert OWNED in run
    text = QUEUES + NODES + OF_CRON_JOB + run
    text += (WORKLOAD if queue else "") + (pod("a", "n0") if pods else "")
    found = arrivals(seen_scene(text))
    assert [(it.name, it.kind, it.nodes) for it in found if not it.unknown] == [
        ("nlp/a", "Job", ("n0",) if pods else ())
    ]
