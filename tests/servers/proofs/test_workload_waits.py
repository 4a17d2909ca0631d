"""Jobs of the bad examples wait forever; those of the good examples are admitted at once."""

from __future__ import annotations

from tests.servers.cluster import KUEUE, Cluster
from tests.servers.pages import bad, good
from tests.servers.proofs.examples import documents, scene, show
from tests.servers.scenes import messages
from tests.servers.workloads import KUEUE_PRIORITY, Ask, job

REASONS = {
    ("default-request-above-limit", 0): "requests must not exceed its limits",
    ("limit-range-refuses-pods", 0): "requests must not exceed its limits",
    ("limit-range-refuses-pods", 1): "didn't satisfy LimitRange constraints",
    ("limit-range-refuses-pods", 2): "requests must not exceed its limits",
    ("limit-range-refuses-pods", 3): "didn't satisfy LimitRange constraints",
    ("request-not-covered", 0): "resource rdma/hca unavailable in ClusterQueue",
    ("workload-exceeds-quota", 0): "insufficient quota for nvidia.com/gpu",
    ("workload-fits-no-flavor", 0): "flavor a100 doesn't match node affinity",
    ("workload-fits-no-flavor", 1): "untolerated taint",
    ("workload-never-starts", 1): "flavor a100-4 doesn't match node affinity",
    ("workload-without-local-queue", 0): "LocalQueue a100s doesn't exist",
}
"""The message of the Workload of each bad example."""
PLAIN = Ask(gpus=1, cpu="8", memory="64Gi")


def test_workload_waits_forever(cluster: Cluster) -> None:
    harmed = {each: f"bad-{number}" for number, each in enumerate(REASONS)}
    sound = {each: f"good-{number}" for number, each in enumerate(REASONS)}
    show(
        cluster,
        *(scene(bad(*each), name, "a100") for each, name in harmed.items()),
        *(scene(good(each[0], _of(each)), name, "a100") for each, name in sound.items()),
    )
    for each, name in sound.items():
        cluster.becomes(f"{each}: good", lambda name=name: cluster.admitted(name), ["train"])
    for each, name in harmed.items():
        reason = scene(REASONS[each], name, "a100")
        cluster.until(
            f"{each}: {reason}",
            lambda n=name, r=reason: any(r in it for it in messages(cluster, n)),
        )
        assert cluster.admitted(name) == []
        assert cluster.pods(name) == []


def _of(each: tuple[str, int]) -> int:
    """Which good example belongs to a bad one."""
    return each[1] if each[0] in {"workload-fits-no-flavor", "workload-never-starts"} else 0


def test_limit_range_default_not_covered(cluster: Cluster) -> None:
    """Jobs that request only covered resources."""
    for name, example in (("bad", bad), ("good", good)):
        show(cluster, scene(example("limit-range-default-not-covered"), name))
        cluster.create(job("train", name, PLAIN, queue="a100"))
    cluster.becomes("good", lambda: cluster.admitted("good"), ["train"])
    reason = "resource ephemeral-storage unavailable in ClusterQueue"
    cluster.until(reason, lambda: any(reason in it for it in messages(cluster, "bad")))
    assert cluster.admitted("bad") == []


def test_workload_priority_class_missing(cluster: Cluster) -> None:
    """The Job is suspended, and there is no Workload whose conditions could explain it."""
    rule = "workload-priority-class-missing"
    show(cluster, scene(bad(rule), "bad"), scene(good(rule), "good"))
    cluster.becomes("good", lambda: cluster.admitted("good"), ["train"])
    cluster.stays("Workloads", lambda: cluster.objects(KUEUE, "Workload", "bad"), [], for_s=1)
    assert cluster.get("batch/v1", "Job", "train", "bad")["spec"]["suspend"]


def test_name_too_long_for_label(cluster: Cluster) -> None:
    """The API server refuses every job that names them."""
    rule = "name-too-long-for-label"
    show(cluster, good(rule, 1), bad(rule), bad(rule, 1))
    [queue], [priority] = documents(bad(rule)), documents(bad(rule, 1))
    named = job("train", "vision", PLAIN, queue=queue["metadata"]["name"])
    assert "must be no more than 63" in cluster.refusal(named)
    ranked = job("train", "vision", PLAIN, queue="a100")
    ranked["metadata"]["labels"][KUEUE_PRIORITY] = priority["metadata"]["name"]
    assert "must be no more than 63" in cluster.refusal(ranked)
    cluster.create(job("train", "vision", PLAIN, queue="a100", kueue_priority="normal"))
    cluster.becomes("good", lambda: cluster.admitted("vision"), ["train"])
