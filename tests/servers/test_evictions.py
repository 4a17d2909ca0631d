"""Evictions end neither a Job nor a Volcano Job that policygen renders, and Volcano Jobs run to their end."""

from tests.servers.cluster import holds
from tests.servers.rendering import rendered
from tests.servers.specs import model, platform, pool, share, team

JOB = "batch/v1", "Job", "train", "web"
VOLCANO_JOB = "batch.volcano.sh/v1alpha1", "Job", "train", "web"
PODS = 7
"""One more than the failures after which Kubernetes ends a Job."""
RESTARTS = 4
"""One more than the restarts after which Volcano ends a Job by default."""


def training(scheduler, **more):
    """A training model with its workload, in a pool with 8 GPUs for one pod or gang."""
    return rendered(
        [
            platform(),
            pool(gpus=8, scheduler=scheduler),
            team("web", share(guarantee=8, limit=8)),
            model(
                "train",
                "web",
                workload="training",
                resources={"gpus": 4, "cpu": 4, "memory": "16Gi"},
                container={"image": "registry.example.com/any:1"},
                **more,
            ),
        ],
        "workloads",
        "volcano-config",
    )


def running(cluster):
    """The names of the running pods."""
    return sorted(
        it["metadata"]["name"]
        for it in cluster.pods("web")
        if it["status"].get("phase") == "Running" and "deletionTimestamp" not in it["metadata"]
    )


def evict(cluster, name):
    """Evict a pod, as `kubectl drain` does."""
    metadata = {"name": name, "namespace": "web"}
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata}
    path = cluster.client.resource("v1", "Pod").path("web", name)
    answer = cluster.client.request("POST", f"{path}/eviction", eviction)
    assert answer.ok, answer.message


def succeed(cluster):
    """Let all pods end successfully."""
    for name in running(cluster):
        cluster.patch("v1", "Pod", name, {"status": {"phase": "Succeeded"}}, "web", "status")


def test_a_job_survives_more_evictions_than_failures(cluster):
    out = training("kube-scheduler")
    (made,) = [it for it in out.objects if it["kind"] == "Job"]
    bare = {**made, "metadata": {**made["metadata"], "name": "bare"}}
    bare["spec"] = {key: it for key, it in made["spec"].items() if key != "podFailurePolicy"}
    bare["spec"]["backoffLimit"] = 0
    cluster.add_nodes(next(iter(out.pools.values())))
    with cluster.kube_scheduler(out.scheduler_config):
        cluster.apply(out.text)
        for _ in range(PODS):
            cluster.becomes("running pods", lambda: len(running(cluster)), 1)
            (name,) = running(cluster)
            evict(cluster, name)
            cluster.until("it is gone", lambda name=name: name not in running(cluster))
        cluster.becomes("another pod runs", lambda: len(running(cluster)), 1)
        job = cluster.get(*JOB)
        assert not holds(job, "Failed")
        assert job["status"].get("failed", 0) == 0
        succeed(cluster)
        cluster.until("it is complete", lambda: holds(cluster.get(*JOB), "Complete"))
        # Without the policy, an eviction is a failure.
        cluster.create(bare)
        cluster.becomes("running pods", lambda: len(running(cluster)), 1)
        evict(cluster, running(cluster)[0])
        cluster.until(
            "it failed", lambda: holds(cluster.get("batch/v1", "Job", "bare", "web"), "Failed")
        )


def state(cluster):
    status = cluster.get(*VOLCANO_JOB).get("status", {})
    return status.get("state", {}).get("phase"), status.get("retryCount", 0)


def test_a_gang_survives_more_evictions_than_restarts_and_runs_to_its_end(cluster):
    out = training("volcano", gang={"size": 2, "runAs": "vcjob"})
    (made,) = [it for it in out.objects if it["apiVersion"] == VOLCANO_JOB[0]]
    assert made["spec"]["maxRetry"] > RESTARTS
    cluster.add_nodes(next(iter(out.pools.values())))
    with cluster.volcano(out.volcano_config):
        cluster.apply(out.text)
        for number in range(RESTARTS):
            cluster.becomes("running pods", lambda: len(running(cluster)), 2)
            cluster.becomes("its state", lambda: state(cluster), ("Running", number))
            evict(cluster, running(cluster)[0])
            cluster.becomes("its restarts", lambda: state(cluster)[1], number + 1)
        cluster.becomes("it runs again", lambda: state(cluster), ("Running", RESTARTS))
        cluster.becomes("running pods", lambda: len(running(cluster)), 2)
        cluster.apply(out.text)
        cluster.stays("an apply changes nothing", lambda: len(running(cluster)), 2)
        succeed(cluster)
        cluster.becomes("it is complete", lambda: state(cluster), ("Completed", RESTARTS))
        cluster.becomes("its GPUs are free", cluster.bound, 0)
