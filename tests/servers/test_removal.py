"""What happens to the users of an object that is deleted, as `policygen diff` states it (review/uses.py)."""

from tests.servers.cluster import KUEUE, SCHEDULING
from tests.servers.scenes import ONE, held, jobs, messages, ready
from tests.servers.specs import platform, pool, share, team
from tests.servers.workloads import pod, vcjob


def there(cluster, api_version, kind):
    """The names of objects, and those that a finalizer keeps."""
    found = cluster.objects(api_version, kind)
    leaving = [it for it in found if it["metadata"].get("deletionTimestamp")]
    return [[it["metadata"]["name"] for it in several] for several in (found, leaving)]


def test_running_workloads_keep_a_cluster_queue(cluster):
    """They are not evicted; the queue is gone when they end, and nothing new is admitted."""
    low = {"name": "low", "value": 10}
    ready(
        cluster,
        platform(low),
        pool(gpus=8),
        team("nlp", share(guarantee=4, limit=4)),
        team("vision", share(guarantee=4)),
    )
    cluster.create(*jobs("nlp", 4, kueue_priority="low"))
    cluster.becomes("nlp", lambda: held(cluster, "nlp"), [4])
    cluster.create(*jobs("nlp", 1, prefix="waits"))
    for kind in ("WorkloadPriorityClass", "Cohort", "ClusterQueue", "ResourceFlavor"):
        name = {"WorkloadPriorityClass": "low", "ClusterQueue": "nlp.a100"}.get(kind, "a100")
        cluster.delete(KUEUE, kind, name)
    cluster.delete("scheduling.k8s.io/v1", "PriorityClass", "low")
    cluster.delete(KUEUE, "LocalQueue", "a100", "nlp")
    cluster.until(
        "the pending one waits for its queue",
        lambda: "LocalQueue a100 doesn't exist" in messages(cluster, "nlp"),
    )
    cluster.create(*jobs("vision", 1, prefix="new", kueue_priority="low"))
    refused = {**pod("late", "nlp", ONE)}
    refused["spec"]["priorityClassName"] = "low"
    cluster.until(
        "no new pod of the class",
        lambda: "no PriorityClass with name low" in cluster.refusal(refused),
    )
    cluster.stays("nlp", lambda: held(cluster, "nlp"), [4], for_s=1.5)
    assert cluster.objects(KUEUE, "Workload", "vision") == []
    assert there(cluster, KUEUE, "ClusterQueue") == [["nlp.a100", "vision.a100"], ["nlp.a100"]]
    assert there(cluster, KUEUE, "ResourceFlavor")[1] == ["a100"]
    for it in range(4):
        cluster.delete("batch/v1", "Job", f"nlp-{it}", "nlp")
    cluster.becomes("queues", lambda: there(cluster, KUEUE, "ClusterQueue")[0], ["vision.a100"])
    assert there(cluster, KUEUE, "ResourceFlavor")[1] == ["a100"]
    # A flavor that is being deleted still has its quota.
    cluster.create(*jobs("vision", 4))
    cluster.becomes("vision", lambda: held(cluster, "vision"), [4])


def test_pending_gangs_of_a_deleted_volcano_queue_never_start(cluster):
    ready(
        cluster,
        pool("train", gpus=8, scheduler="volcano"),
        team("nlp", share("train", guarantee=4, limit=4)),
        team("vision", share("train", guarantee=4)),
    )
    cluster.create(vcjob("runs", "nlp", ONE, pods=4, queue="nlp.train"))
    cluster.becomes("runs", lambda: cluster.bound("nlp"), 4)
    cluster.create(vcjob("waits", "nlp", ONE, queue="nlp.train"))
    path = cluster.client.resource(SCHEDULING, "Queue").path(None, "train")
    refused = cluster.client.request("DELETE", path).message
    assert "can not be deleted because it has 2 child queues" in refused
    cluster.delete(SCHEDULING, "Queue", "nlp.train")
    cluster.stays("those that run", lambda: cluster.bound("nlp"), 4, for_s=1)
    assert "unable to find job queue" in cluster.refusal(
        vcjob("new", "nlp", ONE, queue="nlp.train")
    )
    cluster.delete("batch.volcano.sh/v1alpha1", "Job", "runs", "nlp")
    cluster.becomes("nothing runs", lambda: cluster.bound("nlp"), 0)
    cluster.stays("the other one", lambda: cluster.bound("nlp"), 0, for_s=2)
