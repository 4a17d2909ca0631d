"""Rules of queues that admit nothing: the bad example's Jobs wait forever, the good one's start."""

from dataclasses import dataclass

import pytest

from tests.servers.proofs.scene import USUAL, Scene, part
from tests.servers.workloads import Ask

WHOLE = Ask(gpus=8, cpu="16", memory="64Gi")
"""Twice what each of two queues has in its first flavor, so it must borrow or use another flavor."""
LARGE = Ask(gpus=12, cpu="16", memory="64Gi")
INSTANCE = Ask(gpus=1, cpu="1", memory="1Gi", resource="nvidia.com/mig-1g.10gb")
HALF = Ask(gpus=4, cpu="16", memory="64Gi")


@dataclass(frozen=True)
class Harm:
    """What Jobs get that the good example lets in."""

    message: str
    """A part of Kueue's message for the waiting Workloads."""
    ask: Ask = USUAL
    jobs: int = 1
    admitted: int = 0
    """Of them in the bad example."""


INACTIVE = "is inactive"
NO_SELECTOR = "workload namespace doesn't match ClusterQueue selector"
NO_CPU = "insufficient quota for cpu in flavor a100"
ABOVE_MAXIMUM = "insufficient quota for nvidia.com/gpu in flavor a100"

REFERENCES = {
    ("cluster-queue-selects-no-namespace", 0): Harm(NO_SELECTOR),
    ("namespace-not-selected", 0): Harm(NO_SELECTOR),
    ("namespace-not-selected", 1): Harm(NO_SELECTOR),
    ("flavor-missing", 0): Harm(INACTIVE),
    ("local-queue-without-cluster-queue", 0): Harm("doesn't exist"),
    ("queue-stopped", 0): Harm(INACTIVE),
    ("queue-stopped", 1): Harm(INACTIVE),
}
QUOTAS = {
    ("flavor-never-used", 0): Harm(ABOVE_MAXIMUM, WHOLE),
    ("gpu-quota-without-cpu", 0): Harm(NO_CPU),
    ("gpu-resource-without-quota", 0): Harm(
        "resource nvidia.com/mig-1g.10gb unavailable in ClusterQueue", INSTANCE
    ),
    ("memory-quota-without-unit", 0): Harm("insufficient quota for memory in flavor a100"),
    ("no-quota-anywhere", 0): Harm("insufficient quota for cpu in flavor a100"),
    ("no-quota-anywhere", 1): Harm("insufficient quota for cpu in flavor a100"),
    ("cpu-or-memory-not-covered", 0): Harm("unavailable in ClusterQueue"),
    ("resource-name-misspelt", 0): Harm("resource nvidia.com/gpu unavailable in ClusterQueue"),
    ("resource-name-misspelt", 1): Harm("resource memory unavailable in ClusterQueue"),
}
COHORTS = {
    ("borrowing-limit-unused", 0): Harm(ABOVE_MAXIMUM, WHOLE),
    ("cohort-never-borrows", 0): Harm(ABOVE_MAXIMUM, WHOLE),
    ("cohort-of-one", 0): Harm(ABOVE_MAXIMUM, WHOLE),
    ("cohort-quota-unused", 0): Harm(ABOVE_MAXIMUM, LARGE),
    ("cohort-shares-nothing", 0): Harm("insufficient", HALF, jobs=2, admitted=1),
    ("cohort-undeclared", 0): Harm(ABOVE_MAXIMUM, WHOLE),
    ("gpu-quota-without-cpu", 1): Harm("insufficient unused quota for cpu", jobs=2, admitted=1),
    ("gpu-quota-without-cpu", 2): Harm(NO_CPU),
}


@pytest.mark.parametrize("harms", [REFERENCES, QUOTAS, COHORTS], ids=["names", "quotas", "cohorts"])
def test_jobs_wait_forever(stage, harms):
    scenes = stage.all(harms)
    bad = {scenes[example][0]: harm for example, harm in harms.items()}
    good = {scenes[example][1]: harm for example, harm in harms.items()}
    stage.send(*(scene.jobs(harm.jobs, harm.ask) for scene, harm in {**bad, **good}.items()))
    everything = {scene: harm.jobs for scene, harm in good.items()}
    stage.becomes("admitted in good ones", everything, Scene.held)
    said = {scene: harm.message for scene, harm in bad.items()}
    stage.becomes("message of bad ones", said, lambda scene: part(said[scene], scene.messages()))
    little = {scene: harm.admitted for scene, harm in bad.items()}
    stage.stays("admitted in bad ones", little, Scene.held)


def test_an_inactive_queue_has_a_condition(stage):
    """In its status alone: the API server took it."""
    reasons = {
        ("flavor-missing", 0): "FlavorNotFound",
        ("topology-missing", 0): "TopologyNotFound",
        ("queue-stopped", 0): "Stopped",
    }
    scenes = stage.all(reasons)
    want = {scenes[it][0]: reason for it, reason in reasons.items()}
    want |= {scenes[it][1]: "Ready" for it in reasons}
    stage.becomes("Active", want, lambda scene: scene.active("ClusterQueue", "vision.a100"))
