"""Deployments in queues of Kueue and Volcano that can never run all their pods at once."""

import pytest
import yaml

from tests.servers.client import Object
from tests.servers.cluster import Cluster
from tests.servers.nodes import Shape
from tests.servers.pages import bad, good
from tests.servers.proofs.examples import apply, documents, scene, show
from tests.servers.proofs.test_core_quotas import CHANGE, updated
from tests.servers.proofs.volcano_scene import SHARES, Volcano
from tests.servers.scenes import messages
from tests.servers.workloads import Ask, job

RULE = "replicas-exceed-queue"
VOLCANO = 1
"""The number of the example with a queue of Volcano."""
COHORT = 2
"""The number of the example of `workloads-exceed-queue` with two queues of a cohort."""
BESIDE = 3
"""The number of its example with a Job beside a Deployment."""
BESIDE_IN_VOLCANO = 4
"""The same with a Job of Volcano."""
QUEUE = 1
"""The number of the example of `rollout-exceeds-quota` with a queue."""


def placed(cluster: Cluster, namespace: str) -> tuple[int, int]:
    """GPUs on nodes, and waiting pods."""
    return cluster.bound(namespace), len(cluster.waiting(namespace))


def start(cluster: Cluster, name: str, example: str) -> None:
    """Apply an example in a namespace of its own, with a node that has room for all its pods."""
    shape = Shape(gpus=16, labels={"pool": f"{name}-a100"})
    cluster.add_nodes(shape, 1, prefix=name)
    show(cluster, scene(example, name, "vision.a100", "a100"))


def test_replicas_exceed_queue(cluster: Cluster) -> None:
    """Four of six pods run, although the node has room for all."""
    wanted = {"bad": (4, 2), "good": (4, 0)}
    start(cluster, "bad", bad(RULE))
    start(cluster, "good", good(RULE))
    for name, want in wanted.items():
        cluster.becomes(name, lambda name=name: placed(cluster, name), want)
    for name, want in wanted.items():
        cluster.stays(name, lambda name=name: placed(cluster, name), want, for_s=1)


def test_replicas_exceed_queue_of_volcano(volcano: Volcano) -> None:
    for example, want in ((bad(RULE, VOLCANO), (4, 2)), (good(RULE, VOLCANO), (4, 0))):
        with volcano.scene(example):
            volcano.becomes("pods", lambda: placed(volcano, "vision"), want)
            volcano.sessions()
            assert placed(volcano, "vision") == want


def test_workloads_exceed_queue_of_volcano(volcano: Volcano) -> None:
    """Beside the other test of Volcano, because a test with `cluster` between them removes the nodes."""
    rule = "workloads-exceed-queue"
    for example, want in ((bad(rule, VOLCANO), (4, 2)), (good(rule, VOLCANO), (4, 0))):
        with volcano.scene(example):
            volcano.becomes("pods", lambda: placed(volcano, "vision"), want)
            volcano.sessions()
            assert placed(volcano, "vision") == want


@pytest.mark.parametrize("shipped", [True, False])
def test_workloads_exceed_queue_of_volcano_by_a_job(volcano: Volcano, *, shipped: bool) -> None:
    """With the chart's configuration, and without the action enqueue."""
    rule = "workloads-exceed-queue"
    for example, serving, all_of in (
        (bad(rule, BESIDE_IN_VOLCANO), 3, 3),
        (good(rule, BESIDE_IN_VOLCANO), 2, 4),
    ):
        *others, job = documents(example)
        with volcano.scene(yaml.safe_dump_all(others), volcano.shipped if shipped else SHARES):
            volcano.becomes("serving", lambda: volcano.bound("vision"), serving)
            volcano.create(job)
            volcano.becomes("pods", lambda: volcano.bound("vision"), all_of)
            volcano.until("a PodGroup", lambda: len(_groups(volcano)) > 1)
            volcano.sessions()
            assert volcano.bound("vision") == all_of


def test_workloads_exceed_queue(cluster: Cluster) -> None:
    """Four of the six pods of two Deployments run: of one queue, and of two queues of a cohort."""
    rule = "workloads-exceed-queue"
    wanted: dict[str, tuple[int, int]] = {}
    for number in (0, COHORT):
        for name, text, want in (
            (f"bad{number}", bad(rule, number), (4, 2)),
            (f"good{number}", good(rule, number), (4, 0)),
        ):
            shape = Shape(gpus=16, labels={"pool": f"{name}-a100"})
            cluster.add_nodes(shape, 1, prefix=name)
            own = text.replace("namespace: nlp", f"namespace: {name}-nlp")
            own = own.replace("metadata.name: nlp", f"metadata.name: {name}-nlp")
            show(cluster, scene(own, name, "vision.a100", "nlp.a100", "a100"))
            wanted[name] = want
    found = lambda: {name: _of_both(cluster, name) for name in wanted}
    cluster.becomes("pods", found, wanted)
    cluster.stays("pods", found, wanted, for_s=1)


def test_workloads_exceed_queue_by_a_job(cluster: Cluster) -> None:
    """A Job for two of the four GPUs waits while three pods of a Deployment run."""
    rule = "workloads-exceed-queue"
    texts = {"bad": bad(rule, BESIDE), "good": good(rule, BESIDE)}
    jobs = {}
    for name, text in texts.items():
        cluster.add_nodes(Shape(gpus=16, labels={"pool": f"{name}-a100"}), 1, prefix=name)
        *others, jobs[name] = documents(scene(text, name, "vision.a100", "a100"))
        apply(cluster, others)
    found = lambda: {name: placed(cluster, name) for name in texts}
    cluster.becomes("serving", found, {"bad": (3, 0), "good": (2, 0)})
    apply(cluster, jobs.values())
    cluster.becomes("jobs", found, {"bad": (3, 0), "good": (4, 0)})
    cluster.stays("jobs", found, {"bad": (3, 0), "good": (4, 0)}, for_s=1)


def _of_both(cluster: Cluster, name: str) -> tuple[int, int]:
    """GPUs on nodes, and waiting pods, in the namespaces of a scene."""
    one, other = placed(cluster, name), placed(cluster, f"{name}-nlp")
    return one[0] + other[0], one[1] + other[1]


def test_rollout_exceeds_queue(cluster: Cluster) -> None:
    """The new pod waits in the queue for the old ones, which wait for the new pod."""
    rule = "rollout-exceeds-quota"
    for name, example in (("bad", bad(rule, QUEUE)), ("good", good(rule, QUEUE))):
        start(cluster, name, example)
        cluster.becomes(name, lambda name=name: _ready(cluster, name), 4)
        cluster.patch("apps/v1", "Deployment", "detector", CHANGE, name)
    cluster.becomes("good", lambda: updated(cluster, "good", "detector"), 4)
    cluster.becomes("bad", lambda: updated(cluster, "bad", "detector"), 1)
    cluster.becomes("bad waits", lambda: placed(cluster, "bad"), (4, 1))
    cluster.stays("bad waits", lambda: placed(cluster, "bad"), (4, 1), for_s=1)


def test_autoscaler_resize_refused(cluster: Cluster) -> None:
    """The test scales in place of the autoscaler."""
    rule = "autoscaler-resize-refused"
    for name, kind, example, pods in (
        ("bad", "StatefulSet", bad(rule), 2),
        ("good", "Deployment", good(rule), 1),
    ):
        start(cluster, name, example.partition("apiVersion: autoscaling")[0])
        cluster.becomes(name, lambda name=name: placed(cluster, name), (pods, 0))
        scale = lambda name=name, kind=kind: cluster.patch(
            "apps/v1", kind, "detector", {"spec": {"replicas": 3}}, name
        )
        if name == "bad":
            with pytest.raises(AssertionError, match="field is immutable"):
                scale()
        else:
            scale()
            cluster.becomes(name, lambda name=name: placed(cluster, name), (3, 0))


def test_gpu_quota_unusable(cluster: Cluster) -> None:
    """Of 4 GPUs one is used, because the cpu is used up."""
    rule = "gpu-quota-unusable"
    start(cluster, "bad", bad(rule))
    start(cluster, "good", good(rule))
    cluster.becomes("good", lambda: len(cluster.admitted("good")), 2)
    cluster.becomes("bad", lambda: len(cluster.admitted("bad")), 1)
    reason = "insufficient unused quota for cpu"
    cluster.until(reason, lambda: any(reason in it for it in messages(cluster, "bad")))
    cluster.stays("bad", lambda: len(cluster.admitted("bad")), 1, for_s=1)


def _groups(cluster: Cluster) -> list[Object]:
    return cluster.objects("scheduling.volcano.sh/v1beta1", "PodGroup", "vision")


def _ready(cluster: Cluster, namespace: str) -> int | None:
    status = cluster.get("apps/v1", "Deployment", "detector", namespace)["status"]
    ready: int | None = status.get("readyReplicas")
    return ready


def test_serving_above_nominal_quota(cluster: Cluster) -> None:
    """A job of the other queue gets its quota back, and pods of the Deployment wait."""
    rule = "serving-above-nominal-quota"
    for name, text, before, after in (
        ("bad", bad(rule), (6, 0), (4, 2)),
        ("good", good(rule), (4, 0), (4, 0)),
    ):
        cluster.add_nodes(Shape(gpus=8, labels={"pool": f"{name}-a100"}), 1, prefix=name)
        cluster.namespace(name)
        cluster.namespace(f"{name}-lab")
        show(cluster, scene(text, name))
        cluster.becomes("serving", lambda name=name: placed(cluster, name), before)
        cluster.create(job("train", f"{name}-lab", Ask(gpus=1), pods=4, queue="a100"))
        cluster.becomes("job", lambda name=name: placed(cluster, f"{name}-lab"), (4, 0))
        cluster.becomes("the rest", lambda name=name: placed(cluster, name), after)
        cluster.stays("the rest", lambda name=name: placed(cluster, name), after, for_s=1)


def test_a_job_without_labels_takes_those_of_its_pods(cluster: Cluster) -> None:
    """So Kueue admits a Job whose template names the queue; with any label of its own, Kueue ignores it."""
    text = good("serving-above-nominal-quota")
    cluster.add_nodes(Shape(gpus=8, labels={"pool": "own-a100"}), 1, prefix="own")
    cluster.namespace("own")
    cluster.namespace("own-lab")
    show(cluster, scene(text, "own"))
    for name, labels in (("plain", {}), ("labelled", {"app": "train"})):
        made = job(name, "own-lab", Ask(gpus=1))
        made["metadata"]["labels"] = labels
        made["spec"]["suspend"] = True
        template = made["spec"]["template"]
        template.setdefault("metadata", {})["labels"] = {"kueue.x-k8s.io/queue-name": "a100"}
        cluster.create(made)
    cluster.becomes("admitted", lambda: cluster.admitted("own-lab"), ["plain"])
    cluster.stays("admitted", lambda: cluster.admitted("own-lab"), ["plain"], for_s=1)
