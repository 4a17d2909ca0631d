"""Rules about preemption, and about Jobs that wait behind others."""

from dataclasses import dataclass

from tests.servers.proofs.scene import Scene, part
from tests.servers.workloads import Ask

HALF = Ask(gpus=4, cpu="16", memory="64Gi")
WHOLE = Ask(gpus=8, cpu="16", memory="64Gi")


@dataclass(frozen=True)
class Claim:
    """Jobs that take all there is, and one that claims it afterwards."""

    first: tuple[str, int, Ask]
    late: tuple[str, Ask]
    """Namespaces and the requests of their Jobs."""
    bad: tuple[str | None, str | None] = (None, None)
    good: tuple[str | None, str | None] = (None, None)
    """The priorities of the first ones and of the late one."""


CLAIMS = {
    ("cohort-preemption-ignored", 0): Claim(("speech", 2, HALF), ("vision", HALF)),
    ("cohort-preemption-ignored", 2): Claim(
        ("speech", 3, HALF), ("vision", WHOLE), ("bulk", "urgent"), ("bulk", "urgent")
    ),
    ("gpu-quota-without-cpu", 3): Claim(
        ("speech", 2, Ask(gpus=4, cpu="48", memory="64Gi")), ("vision", HALF)
    ),
    ("lends-without-reclaim", 0): Claim(("speech", 2, HALF), ("vision", HALF)),
    ("preemption-without-priorities", 0): Claim(
        ("vision", 1, WHOLE), ("vision", WHOLE), ("usual", "usual"), ("bulk", "urgent")
    ),
    ("preemption-without-priorities", 1): Claim(
        ("speech", 3, HALF), ("vision", WHOLE), ("usual", "usual"), ("bulk", "urgent")
    ),
    ("priorities-without-preemption", 0): Claim(
        ("vision", 1, WHOLE), ("vision", WHOLE), ("bulk", "urgent"), ("bulk", "urgent")
    ),
    ("priority-threshold-below-all", 0): Claim(
        ("speech", 3, HALF), ("vision", WHOLE), ("bulk", "urgent"), ("bulk", "urgent")
    ),
}


def test_no_workload_is_preempted(stage):
    """In the bad example the late Job waits; in the good one it displaces others."""
    scenes = stage.all(CLAIMS)
    claims = {scene: claim for it, claim in CLAIMS.items() for scene in scenes[it]}
    ranks = {scenes[it][0]: claim.bad for it, claim in CLAIMS.items()}
    ranks |= {scenes[it][1]: claim.good for it, claim in CLAIMS.items()}
    stage.send(*(early(scene, claim, ranks[scene][0]) for scene, claim in claims.items()))
    all_in = {scene: claim.first[1] for scene, claim in claims.items()}
    stage.becomes("first ones", all_in, lambda it: it.held(claims[it].first[0]))
    stage.send(*(late(scene, claim, ranks[scene][1]) for scene, claim in claims.items()))
    said = {scenes[it][0]: "insufficient" for it in CLAIMS}
    stage.becomes("message", said, lambda it: part(said[it], it.messages(claims[it].late[0])))
    want = {scene: scene in {good for _, good in scenes.values()} for scene in claims}
    got_in = lambda it: "late-0" in it.admitted(claims[it].late[0])
    stage.becomes("late one", want, got_in)
    stage.stays("late one", want, got_in)


def early(scene, claim, rank):
    namespace, count, ask = claim.first
    return scene.jobs(count, ask, namespace=namespace, priority=rank, prefix="first")


def late(scene, claim, rank):
    namespace, ask = claim.late
    return scene.jobs(1, ask, namespace=namespace, priority=rank, prefix="late")


def test_strict_fifo_over_flavors(stage):
    """Spot is in use and the next Job needs it.

    Reserved is idle, but the Job that needs it is behind.
    """
    bad, good = scenes = stage.both("strict-fifo-over-flavors")
    spot = Ask(gpus=4, cpu="16", memory="64Gi", node_selector={"pool": "spot"})
    reserved = Ask(gpus=4, cpu="16", memory="64Gi", node_selector={"pool": "reserved"})
    stage.send(*(scene.jobs(1, spot, prefix="running") for scene in scenes))
    stage.becomes("running", {bad: 1, good: 1}, Scene.held)
    stage.send(*(scene.jobs(1, spot, prefix="head") for scene in scenes))
    stage.becomes("waits", {bad: 2, good: 2}, lambda it: len(it.workloads()))
    stage.next_second()
    stage.send(*(scene.jobs(1, reserved, prefix="behind") for scene in scenes))
    want = {bad: ["running-0"], good: ["behind-0", "running-0"]}
    stage.becomes("admitted", want, Scene.admitted)
    stage.becomes("waits", {bad: 3}, lambda it: len(it.workloads()))
    stage.stays("admitted", want, Scene.admitted, for_s=1)
