"""PodDisruptionBudgets that refuse every eviction."""

from __future__ import annotations

from pathlib import Path

from tests.servers.cluster import Cluster
from tests.servers.nodes import Shape
from tests.servers.pages import bad, good
from tests.servers.proofs.examples import scene, show
from tests.servers.test_availability import cordon, evict

RULE = "budget-blocks-drain"
OF_JOBS = ("bad-06", "bad-08")
OF_VOLCANO = "bad-08"
CASES = Path(__file__).parents[2] / "lint" / "cases" / RULE


def test_budget_blocks_drain(cluster: Cluster) -> None:
    """The eviction API refuses the pods of each bad example, and evicts one of each good example."""
    nodes = cluster.add_nodes(Shape(), 4)
    examples = {it.stem: it.read_text("utf-8") for it in CASES.glob("*.yaml")}
    examples |= {"bad-01": bad(RULE), "good-01": good(RULE)}
    del examples["good-03"]  # its autoscaler has no metrics
    # Volcano's controller creates the pods, and kube-scheduler starts them.
    other = examples[OF_VOLCANO].replace(
        "schedulerName: volcano", "schedulerName: default-scheduler"
    )
    examples[OF_VOLCANO] = other
    show(cluster, *(scene(text, name) for name, text in examples.items()))
    for name in examples:
        if name in OF_JOBS:
            cluster.becomes("the reason", lambda name=name: _reason(cluster, name), "SyncFailed")
            cluster.becomes("its running pods", lambda name=name: _running(cluster, name), 2)
        else:
            cluster.becomes(f"healthy in {name}", lambda name=name: _healthy(cluster, name), 2)
    # So no replacement of an evicted pod becomes healthy before the next eviction is asked for.
    cordon(cluster, nodes)
    for name in examples:
        if name.startswith("good"):
            assert _evict(cluster, name) == [201, 429], name
    for name in examples:
        if name.startswith("bad"):
            refused = [500, 500] if name == "bad-04" else [429, 429]
            assert _evict(cluster, name) == refused, name


def test_budget_selects_no_pod(cluster: Cluster) -> None:
    """The eviction API evicts both pods at once, and only one of the good example."""
    nodes = cluster.add_nodes(Shape(), 2)
    rule = "budget-selects-no-pod"
    show(cluster, scene(bad(rule), "bad"), scene(good(rule), "good"))
    cluster.becomes("healthy pods of the good budget", lambda: _healthy(cluster, "good"), 2)
    cluster.becomes("running pods without a budget", lambda: _running(cluster, "bad"), 2)
    cluster.becomes(
        "why the bad budget allows nothing", lambda: _reason(cluster, "bad"), "InsufficientPods"
    )
    # So no replacement of an evicted pod becomes healthy before the next eviction is asked for.
    cordon(cluster, nodes)
    assert _evict(cluster, "bad") == [201, 201]
    assert _evict(cluster, "good") == [201, 429]


def _running(cluster: Cluster, namespace: str) -> int:
    """The server evicts pending pods, whatever a budget states."""
    return sum(it["status"].get("phase") == "Running" for it in cluster.pods(namespace))


def _healthy(cluster: Cluster, namespace: str) -> int:
    """The pods that the controller counts as healthy. Of two budgets for a pod, it updates only one."""
    budgets = cluster.objects("policy/v1", "PodDisruptionBudget", namespace)
    return max(it.get("status", {}).get("currentHealthy", 0) for it in budgets)


def _reason(cluster: Cluster, namespace: str) -> str | None:
    """Why the controller allows no eviction, or that it allows one."""
    (budget,) = cluster.objects("policy/v1", "PodDisruptionBudget", namespace)
    found = budget.get("status", {}).get("conditions", [])
    return next((it["reason"] for it in found if it["type"] == "DisruptionAllowed"), None)


def _evict(cluster: Cluster, namespace: str) -> list[int]:
    return [evict(cluster, it).status for it in cluster.pods(namespace)]
