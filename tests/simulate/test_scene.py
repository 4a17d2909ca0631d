"""Scenes of specs and manifests."""

from fractions import Fraction

from policygen.core.versions import DEFAULT
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.kueue_settings import first
from policygen.simulate.scene import (
    Scene,
    cluster_nodes,
    gpus_of,
    kube_scheduler,
    kueue_scheduler,
    note_domains,
    topology_nodes,
)
from policygen.simulate.scene_jobs import arrivals
from tests.client.looks import snapshot
from tests.simulate.scenes import NODES, QUEUES, WORKLOAD, job, played, scene
from tests.simulate.test_topologies_over_time import STATE, required


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


def test_pods_that_kueue_did_not_place_use_topologies():
    """Kueue placed the pod of job a on a0, and the other pod runs on b0."""
    pods = "".join(
        f"""
---
apiVersion: v1
kind: Pod
metadata: {{name: {owner}-1, namespace: nlp, ownerReferences: [{{apiVersion: batch/v1, kind: Job, name: {owner}, uid: u, controller: true}}]}}
spec: {{nodeName: {node}, containers: [{{name: main, resources: {{requests: {{cpu: 4}}, limits: {{nvidia.com/gpu: 8}}}}}}]}}
status: {{phase: Running}}
"""
        for owner, node in (("a", "a0"), ("b", "b0"))
    )
    seen = snapshot(STATE + WORKLOAD + required("a", 8, 1) + job("b", 8, queue="") + pods)
    objects = Cluster(seen.objects, seen.seen, seen.pods)
    it = Scene(objects, first(objects, DEFAULT["kueue"]), cluster_nodes(objects))
    running = arrivals(it)
    note_domains(it, running)
    _, used = topology_nodes(it, running)
    assert used == {"b0": {"cpu": 4000, "nvidia.com/gpu": 8, "pods": 1}}
    (admission,) = (one.workload.admission for one in running if one.workload is not None)
    assert [it.pods for it in admission.placements()] == [{"a0": 1}]
