"""Features that Kueue's Configuration does not enable have no effect; some enabled ones do harm."""

from __future__ import annotations

import pytest

from tests.servers.client import Object
from tests.servers.cluster import KUEUE, Cluster
from tests.servers.nodes import Shape
from tests.servers.pages import bad, good
from tests.servers.process import ServerError
from tests.servers.proofs.examples import conditions, configuration, documents, scene, show
from tests.servers.scenes import held, jobs
from tests.servers.workloads import Ask, job

SMALL = Ask(gpus=1, cpu="1", memory="1Gi")
FOUR = Ask(gpus=4, cpu="1", memory="1Gi")
WHOLE = Ask(gpus=8, cpu="8", memory="64Gi")
BOTH = pytest.mark.parametrize("example", [bad, good], ids=["bad", "good"])


@BOTH
def test_what_queues_share_by(cluster: Cluster, example) -> None:
    """Kueue uses weights and past usage only if its Configuration enables them."""
    weights, usage = "fair-sharing-off", "admission-fair-sharing-off"
    with cluster.kueue(configuration(example(weights), example(usage))):
        show(cluster, example(weights), scene(example(usage), "used"))
        cluster.create(_more(example(weights), "speech.a100", "nobody", 12))
        cluster.create(_local_queue("other", "used"), *jobs("speech", 5, FOUR))
        cluster.create(job("first", "used", WHOLE, queue="a100"))
        cluster.becomes("first", lambda: cluster.admitted("used"), ["first"])
        cluster.create(job("early", "used", WHOLE, queue="a100"))
        _weights(cluster, [1, 4] if example is bad else [3, 2])
        _usage(cluster, "early" if example is bad else "late")


def _weights(cluster: Cluster, want: list[int]) -> None:
    """2 of 5 jobs run in their queues' own quota; weights of 2 and 1 divide the quota of 3 more."""
    both = lambda: held(cluster, "vision", "speech")
    cluster.becomes("speech has all", both, [0, 5])
    cluster.create(*jobs("vision", 5, FOUR))
    cluster.becomes("shared out", both, want)
    cluster.stays("shared out", both, want, for_s=1)


def _usage(cluster: Cluster, want: str) -> None:
    """One job at a time: behind one of `a100` waits the next of it, and later one of `other`."""
    cluster.create(job("late", "used", WHOLE, queue="other"))  # a second later: Kueue counts those
    cluster.becomes("queued", lambda: len(cluster.objects(KUEUE, "Workload", "used")), 3)
    cluster.stays("first", lambda: cluster.admitted("used"), ["first"], for_s=0.3)
    cluster.delete("batch/v1", "Job", "first", "used")
    cluster.becomes("next", lambda: cluster.admitted("used"), [want])


@BOTH
def test_what_is_managed(cluster: Cluster, example) -> None:
    """A kind, jobs that name no queue, and a feature, each switched on or not."""
    kind, unnamed, gate = (
        "framework-not-enabled",
        "all-namespaces-managed",
        "feature-gate-off",
    )
    for name in ("vision", "gated"):
        cluster.namespace(
            name, {"kueue-managed": "true"}
        )  # which the last page's good example asks
    cluster.add_nodes(Shape(labels={"pool": "a100"}), 3)
    with cluster.kueue(configuration(example(kind), example(unnamed), example(gate))):
        show(cluster, _above_quota(example(kind)), scene(example(gate), "gated"))
        cluster.create(job("install", "tools", SMALL), job("train", "gated", SMALL, queue="a100"))
        _kind(cluster, 16 if example is bad else 8, 0 if example is bad else 2)
        _unnamed(cluster, suspended=example is bad)
        _gate(cluster, [False] if example is bad else [False, True])


def _above_quota(text: str) -> str:
    """With one pod more than the queue has quota for, which runs only if Kueue does not manage it."""
    return text.replace("replicas: 1", "replicas: 2").replace("nominalQuota: 16", "nominalQuota: 8")


def _kind(cluster: Cluster, used: int, workloads: int) -> None:
    """Two pods of 8 GPUs each, with a quota of 8."""
    in_use = lambda: cluster.bound("vision")
    cluster.becomes("GPUs in use", in_use, used)
    assert len(cluster.objects(KUEUE, "Workload", "vision")) == workloads
    cluster.stays("GPUs in use", in_use, used, for_s=0.5)


def _unnamed(cluster: Cluster, *, suspended: bool) -> None:
    """A job of an installer in a namespace without a queue."""
    found = lambda: cluster.get("batch/v1", "Job", "install", "tools")["spec"]["suspend"]
    cluster.becomes("suspended", found, suspended)
    cluster.becomes("pods", lambda: len(cluster.pods("tools")), 0 if suspended else 1)
    cluster.stays("suspended", found, suspended, for_s=0.5)


def _gate(cluster: Cluster, variants: list[bool]) -> None:
    """Concurrent admission makes a Workload for each flavor, or does not."""
    cluster.until("admitted", lambda: "train" in cluster.admitted("gated"))
    names = [it["metadata"]["name"] for it in cluster.objects(KUEUE, "Workload", "gated")]
    assert ["variant" in name for name in names] == variants


@BOTH
def test_wait_for_pods_ready_off(cluster: Cluster, example) -> None:
    """Half of a gang finds nodes, and keeps them, or gives them back when the time is over."""
    rule, number = "wait-for-pods-ready-off", 1
    found = configuration(example(rule, number))
    if example is good:
        found["waitForPodsReady"]["timeout"] = "2s"
    with cluster.kueue(found):
        cluster.add_nodes(Shape(gpus=4, labels={"pool": "a100"}), 1)
        show(cluster, example(rule, number))
        cluster.becomes("half", cluster.bound, 4)
        [workload] = cluster.objects(KUEUE, "Workload", "vision")
        assert ("PodsReady" in conditions(workload)) == (example is good)
        if example is good:
            cluster.becomes("after the time", cluster.bound, 0)
        else:
            cluster.stays("half", cluster.bound, 4, for_s=2.5)


@BOTH
def test_admission_blocked_by_pods(cluster: Cluster, example) -> None:
    """The first job's pod finds no node; the second one's would."""
    queues = good("fair-sharing-off")
    with cluster.kueue(configuration(example("admission-blocked-by-pods"))):
        show(cluster, queues)
        cluster.create(job("slow", "vision", SMALL, queue="a100"))
        cluster.becomes("slow", lambda: cluster.admitted("vision"), ["slow"])
        cluster.create(job("next", "speech", SMALL, queue="a100"))
        want = [] if example is bad else ["next"]
        cluster.until("queued", lambda: cluster.objects(KUEUE, "Workload", "speech"))
        cluster.becomes("next", lambda: cluster.admitted("speech"), want)
        cluster.stays("next", lambda: cluster.admitted("speech"), want, for_s=1)


def test_multi_kueue_rewrites_quotas(cluster: Cluster) -> None:
    """Its worker does not answer: nothing is left of the quotas."""
    rule = "multi-kueue-rewrites-quotas"
    words = ("workers", "worker-1", "a100")
    with cluster.kueue(configuration(bad(rule))):
        show(cluster, scene(bad(rule), "bad", *words), scene(good(rule), "good", *words))
        none = {"cpu": "0", "memory": "0", "nvidia.com/gpu": "0"}
        cluster.becomes("bad", lambda: _quotas(cluster, "bad.bad-a100"), none)
        written = {"cpu": "96", "memory": "1000Gi", "nvidia.com/gpu": "8"}
        cluster.stays("good", lambda: _quotas(cluster, "good.good-a100"), written, for_s=0.5)


def _local_queue(name: str, namespace: str) -> Object:
    """Another LocalQueue of a scene's ClusterQueue."""
    return {
        "apiVersion": KUEUE,
        "kind": "LocalQueue",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"clusterQueue": f"{namespace}.a100"},
    }


def _more(text: str, queue: str, name: str, gpus: int) -> Object:
    """A copy of an example's queue that no namespace uses, with so many GPUs."""
    [like] = [it for it in documents(text) if it.get("metadata", {}).get("name") == queue]
    group = like["spec"]["resourceGroups"][0]
    for quota in group["flavors"][0]["resources"]:
        if quota["name"] == "nvidia.com/gpu":
            quota["nominalQuota"] = gpus
    spec = {"cohortName": like["spec"]["cohortName"], "resourceGroups": [group]}
    return {"apiVersion": KUEUE, "kind": "ClusterQueue", "metadata": {"name": name}, "spec": spec}


def _quotas(cluster: Cluster, queue: str) -> dict[str, str]:
    """The nominal quotas of a ClusterQueue."""
    [group] = cluster.get(KUEUE, "ClusterQueue", queue)["spec"]["resourceGroups"]
    return {it["name"]: it["nominalQuota"] for it in group["flavors"][0]["resources"]}


@pytest.mark.parametrize("example, number", [(bad, 0), (good, 0), (good, 1)])
def test_gates_given_twice(cluster: Cluster, example, number: int) -> None:
    """In the file, on the command line, or in both: then the manager exits before it does anything."""
    text = example("feature-gates-set-twice", number)
    (manager,) = (it for it in documents(text) if it["kind"] == "Deployment")
    (container,) = manager["spec"]["template"]["spec"]["containers"]
    flags = [word for word in container["args"] if not word.startswith("--config=")]
    if example is good:
        with cluster.bench.other_kueue(configuration(text), *flags):
            return
    refused = cluster.bench.other_kueue(configuration(text), *flags)
    with pytest.raises(ServerError, match="conflicting feature gates detected"), refused:
        pass
