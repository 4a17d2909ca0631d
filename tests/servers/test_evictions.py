"""Evictions do not end a Volcano Job that policygen renders, and it runs to its end."""

from tests.servers.rendering import rendered
from tests.servers.specs import model, platform, pool, share, team

VOLCANO_JOB = "batch.volcano.sh/v1alpha1", "Job", "train", "web"
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
