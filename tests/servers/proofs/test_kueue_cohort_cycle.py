"""A cycle of Cohorts stops every queue in it or below it."""

from tests.servers.cluster import KUEUE
from tests.servers.proofs.examples import apply
from tests.servers.proofs.scene import part

TEAMS = ("vision", "speech")
INACTIVE = "is inactive"


def test_cohort_cycle(stage):
    """Its queues are active before it: one that is made below a cycle can end the whole manager.

    One whose first status Kueue sees below a cycle stays inactive without the cycle.
    """
    bad, good = scenes = stage.pair("cohort-cycle")
    cohorts = [it for it in bad.things if it["kind"] == "Cohort"]
    bad.things = [it for it in bad.things if it not in cohorts]
    stage.put(*scenes)
    active = lambda it: [it.active("ClusterQueue", f"{name}.a100") for name in TEAMS]
    stage.becomes("active", {it: ["Ready", "Ready"] for it in scenes}, active)
    admitted = lambda it: [it.held(name) for name in TEAMS]
    try:
        apply(stage.cluster, cohorts)
        stage.send(*(scene.jobs(namespace=name) for scene in scenes for name in TEAMS))
        stage.becomes("admitted", {good: [1, 1]}, admitted)
        stage.becomes("message", {bad: INACTIVE}, lambda it: part(INACTIVE, it.messages()))
        stage.stays("admitted", {bad: [0, 0]}, admitted)
        stage.becomes(
            "condition", {bad: "Ready"}, lambda it: it.active("ClusterQueue", "vision.a100")
        )
    finally:  # also for the manager's sake
        stage.cluster.patch(KUEUE, "Cohort", bad.of("all"), {"spec": {"parentName": None}})
    stage.becomes("admitted without the cycle", {bad: [1, 1]}, admitted)
