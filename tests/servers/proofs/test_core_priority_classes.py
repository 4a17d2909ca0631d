"""PriorityClasses that protect nothing: the wrong pods are evicted, or none."""

from __future__ import annotations

from tests.servers.cluster import Cluster
from tests.servers.nodes import Shape
from tests.servers.pages import bad, good
from tests.servers.proofs.examples import documents, show
from tests.servers.workloads import Ask, pod

HERE = "vision"


def test_high_priority_never_preempts(cluster: Cluster) -> None:
    """A pod of the high class waits for a node that a lower one holds, and evicts it in the good example."""
    rule = "high-priority-never-preempts"
    second_takes_node(cluster, bad(rule), ("training", "serving"), stays="first")
    second_takes_node(cluster, good(rule), ("training", "serving"), stays="second")


def test_the_lower_class_preempts(cluster: Cluster) -> None:
    """In the same set, training evicts a pod without a class."""
    text = bad("high-priority-never-preempts")
    second_takes_node(cluster, text, (None, "training"), stays="second")


def test_all_pods_highest_priority(cluster: Cluster) -> None:
    """A pod without a class evicts one that names a class; it waits with a lower default."""
    rule = "all-pods-highest-priority"
    second_takes_node(cluster, bad(rule), ("training", None), stays="second")
    second_takes_node(cluster, good(rule), ("serving", None), stays="first")


def test_system_priority_misused(cluster: Cluster) -> None:
    """The class evicts a pod of the highest class that a user can create."""
    text = good("system-priority-misused").replace("value: 1000", "value: 1000000000")
    text = text.partition("---")[0]
    second_takes_node(cluster, text, ("training", "system-cluster-critical"), stays="second")
    second_takes_node(cluster, text, ("training", "training"), stays="first")


def second_takes_node(
    cluster: Cluster, text: str, classes: tuple[str | None, str | None], *, stays: str
) -> None:
    """Two pods need all 8 GPUs of the one node, the second comes later: which of them has it."""
    classes_of_text = [it for it in documents(text) if it["kind"] == "PriorityClass"]
    show(cluster, text)
    if not cluster.placement():
        cluster.add_nodes(Shape(), 1)
    for name, priority in zip(("first", "second"), classes, strict=True):
        cluster.create(pod(name, HERE, Ask(gpus=8, priority=priority)))
        if name == "first":
            cluster.becomes("first", lambda: running(cluster), ["first"])
    cluster.until("second was considered", lambda: considered(cluster))
    cluster.becomes("the node", lambda: running(cluster), [stays])
    cluster.stays("the node", lambda: running(cluster), [stays], for_s=1)
    for it in cluster.pods(HERE):
        cluster.delete("v1", "Pod", it["metadata"]["name"], HERE)
    cluster.becomes("gone", lambda: cluster.pods(HERE), [])
    for each in classes_of_text:
        cluster.delete(each["apiVersion"], each["kind"], each["metadata"]["name"])


def considered(cluster: Cluster) -> bool:
    """Whether kube-scheduler has had the second pod."""
    found = [it for it in cluster.pods(HERE) if it["metadata"]["name"] == "second"]
    return any(it["status"].get("conditions") or it["spec"].get("nodeName") for it in found)


def running(cluster: Cluster) -> list[str]:
    """The names of the pods on a node."""
    return [it["metadata"]["name"] for it in cluster.pods(HERE) if it["spec"].get("nodeName")]
