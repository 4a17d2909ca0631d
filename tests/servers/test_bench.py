"""The bench itself: it starts, schedules, and is clean again."""

import time
from contextlib import closing, suppress

import pytest
import yaml

from tests.servers.bench import KWOK_STAGES, TOKEN
from tests.servers.budget import budget
from tests.servers.client import Client
from tests.servers.nodes import Shape
from tests.servers.rendering import rendered
from tests.servers.slate import STORED_AS
from tests.servers.test_other_tools import install
from tests.servers.upstream import JOB_SET
from tests.servers.workloads import Ask, deployment, job, pod, vcjob

HEARTBEAT = "node-heartbeat-with-lease"
SPEC = """
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {name: a100}
spec:
  nodeSelector: {pool: a100}
  taints: [{key: gpu, effect: NoSchedule}]
  gpu: {perNode: 8, memory: 80Gi}
  capacity: {totalGPUs: 12, nodeAllocatable: {cpu: 96, memory: 768Gi}}
  scheduler: kueue
---
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {name: night}
spec:
  nodeSelector: {pool: night}
  gpu: {perNode: 8, memory: 80Gi, resource: night.example.com/gpu}
  capacity: {nodes: 2, nodeAllocatable: {cpu: 96, memory: 768Gi}}
  scheduler: volcano
---
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata: {name: nlp}
spec:
  namespaces: [{name: nlp}]
  quotas:
    - {pool: a100, guarantee: 4}
    - {pool: night, guarantee: 8}
---
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata: {name: speech}
spec:
  parent: nlp
  namespaces: [{name: speech}]
  quotas:
    - {pool: a100, guarantee: 2}
    - {pool: night, guarantee: 4}
"""
PACKED = """
apiVersion: policygen.dev/v1alpha1
kind: Platform
metadata: {name: default}
spec: {kubeScheduler: {image: example.com/kube-scheduler}}
---
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {name: h100}
spec:
  nodeSelector: {pool: h100}
  gpu: {perNode: 8, memory: 80Gi}
  capacity: {nodes: 4, nodeAllocatable: {cpu: 128, memory: 1Ti}}
  scheduler: kube-scheduler
---
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata: {name: team}
spec:
  namespaces: [{name: team}]
  quotas: [{pool: h100, guarantee: 4}]
"""
NIGHT = "night.example.com/gpu"
REFERENCE = {"apiGroup": "example.com", "kind": "Bucket", "name": "a"}
JOB_SETS = ("jobset.x-k8s.io/v1alpha2", "JobSet")
DEFAULT_QUEUE = ("scheduling.volcano.sh/v1beta1", "Queue", "default")


@pytest.mark.parametrize("turn", range(3))
def test_a_test_finds_nothing_of_the_one_before(cluster, slate, turn):
    assert slate.left() == {}
    assert cluster.get(*DEFAULT_QUEUE)["spec"]["weight"] == 1
    out = rendered(SPEC, "volcano-config")
    cluster.apply(out.text)
    assert len(cluster.add_nodes(out.pools["a100"])) == 2
    cluster.add_nodes(out.pools["night"])
    ask = Ask(gpus=2)
    cluster.create(*(job(f"k{i}", "speech", ask, queue="a100") for i in range(9)))
    night = Ask(gpus=4, resource=NIGHT)
    cluster.create(vcjob("v", "speech", night, pods=2, queue="speech.night"))
    cluster.create(deployment("d", "other", Ask(gpus=1, resource=NIGHT), replicas=3))
    cluster.becomes("admitted by Kueue", lambda: len(cluster.admitted("speech")), 6)
    cluster.becomes("running under Volcano", lambda: cluster.bound("speech", NIGHT), 8)
    cluster.becomes("running under kube-scheduler", lambda: cluster.bound("other", NIGHT), 3)
    cluster.patch(*DEFAULT_QUEUE, {"spec": {"weight": turn + 2}})


def test_what_etcd_stores_under_another_word_is_found(cluster, slate):
    pods = {"metadata": {"labels": {"a": "b"}}, "spec": pod("p", "x", Ask())["spec"]}
    cluster.create(
        thing("v1", "Endpoints"),
        thing("networking.k8s.io/v1", "Ingress", spec={"defaultBackend": {"resource": REFERENCE}}),
        thing("v1", "ReplicationController", spec={"replicas": 0, "template": pods}),
        thing("v1", "Service", spec={"ports": [{"port": 80}]}),
    )
    cluster.add_nodes(Shape())
    found = {it.resource.plural for it in slate.left()}
    assert set(STORED_AS) | {"endpoints", "services"} <= found


def test_the_kinds_of_deleted_crds_are_forgotten(cluster, slate, tools):
    def plural():
        with suppress(LookupError):  # the server lists a new kind a little later than it serves it
            return cluster.client.resource(*JOB_SETS).plural
        return None

    install(cluster, tools, JOB_SET)
    cluster.becomes("the resource of JobSets", plural, "jobsets")
    slate.clean()
    with pytest.raises(LookupError):
        cluster.client.resource(*JOB_SETS)


def thing(api_version, kind, **fields):
    metadata = {"name": "a", "namespace": "words"}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}


def test_nodes_have_what_the_pool_has(cluster):
    names = cluster.add_nodes(rendered(SPEC).pools["a100"])
    nodes = [cluster.get("v1", "Node", name) for name in names]
    assert [node["status"]["allocatable"]["nvidia.com/gpu"] for node in nodes] == ["8", "4"]
    for node in nodes:
        assert node["metadata"]["labels"]["pool"] == "a100"
        assert node["spec"]["taints"] == [{"key": "gpu", "effect": "NoSchedule"}]
        assert node["status"]["allocatable"]["cpu"] == "96"


def test_nodes_that_report_rarely_stay_ready(bench):
    """kwok renews no leases: a node that does not report in time is unreachable, and budgets ignore its pods."""
    port = bench.ports["kube-controller-manager"]
    manager = Client(f"https://127.0.0.1:{port}", TOKEN, bench.ca.read_text("ascii"))
    with closing(manager):
        found = manager.get("/configz").body["kubecontrollermanager.config.k8s.io"]
    assert found["NodeLifecycleController"]["NodeMonitorGracePeriod"] == "1h0m0s"
    texts = [bench.built["kwok"].asset(it).read_text("utf-8") for it in KWOK_STAGES]
    (longest,) = (
        it["spec"]["delay"]
        for it in map(yaml.safe_load, texts)
        if it["metadata"]["name"] == HEARTBEAT
    )
    assert longest["jitterDurationMilliseconds"] < 3_600_000


def test_a_wait_that_fails_shows_what_is_not_ready(cluster):
    cluster.add_nodes(Shape(gpus=1))
    cluster.create(deployment("d", "team", Ask(gpus=2)))
    cluster.until("the scheduler has said why", lambda: "Insufficient" in cluster.state())
    began = time.monotonic()
    with pytest.raises(AssertionError) as caught:
        cluster.becomes("running", cluster.bound, 2, deadline_s=1)
    assert time.monotonic() - began < budget(5)
    message = str(caught.value)
    assert "running: 0 and not 2 after 1 s" in message
    assert "waits: 0/1 nodes are available: 1 Insufficient nvidia.com/gpu" in message


def test_another_kube_scheduler_runs_beside_the_first(cluster):
    out = rendered(PACKED, "second-scheduler")
    cluster.add_nodes(Shape(gpus=8), 4)
    with cluster.kube_scheduler(out.second_scheduler_config) as profiles:
        assert profiles == ["default.binpack"]
        ask = Ask(gpus=1, scheduler=profiles[0])
        cluster.create(deployment("d", "team", ask, replicas=8))
        cluster.becomes("bound", cluster.bound, 8)
        assert sorted(cluster.placement().values()) == [0, 0, 0, 8]
    cluster.create(deployment("late", "team", ask))
    cluster.stays("bound without that scheduler", cluster.bound, 8)


def test_the_main_scheduler_can_be_replaced_for_a_while(cluster):
    out = rendered(PACKED)
    cluster.add_nodes(Shape(gpus=8), 4)
    with cluster.kube_scheduler(out.scheduler_config) as profiles:
        assert "default-scheduler" in profiles
        assert sum(name.startswith("kube-scheduler") for name in cluster.bench.processes) == 1
        cluster.create(deployment("d", "team", Ask(gpus=1, scheduler=profiles[-1]), replicas=3))
        cluster.becomes("bound", cluster.bound, 3)
    cluster.create(deployment("e", "team", Ask(gpus=1), replicas=2))
    cluster.becomes("bound by the usual one", cluster.bound, 5)


def test_kueue_can_run_with_another_configuration(cluster):
    out = rendered(SPEC)
    cluster.apply(out.text)
    waits = {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "manageJobsWithoutQueueName": True,
    }
    with cluster.kueue(waits):
        cluster.create(job("nameless", "speech", Ask(gpus=0)))
        suspended = lambda: cluster.get("batch/v1", "Job", "nameless", "speech")["spec"]["suspend"]
        cluster.until("a Job without a queue is held back", suspended)
    cluster.create(job("free", "speech", Ask(gpus=0)))
    assert not cluster.get("batch/v1", "Job", "free", "speech")["spec"].get("suspend")


def test_volcano_can_run_with_another_configuration(cluster):
    out = rendered(SPEC, "volcano-config")
    cluster.apply(out.text)
    cluster.add_nodes(Shape(gpus=8, gpu_resource=NIGHT), 3)
    ask = Ask(gpus=1, resource=NIGHT)
    with cluster.volcano(out.volcano_config):
        cluster.create(vcjob("v", "speech", ask, pods=8, queue="speech.night"))
        cluster.becomes("bound", lambda: cluster.bound("speech", NIGHT), 8)
        assert sorted(cluster.placement(NIGHT).values()) == [0, 0, 8]
