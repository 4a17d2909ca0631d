"""Rules about weights and settings that fair sharing ignores, with each page's Configuration."""

from tests.servers.proofs.scene import Scene
from tests.servers.workloads import Ask

PAIR = Ask(gpus=2, cpu="2", memory="2Gi")
HALF = Ask(gpus=4, cpu="4", memory="4Gi")
WHOLE = Ask(gpus=8, cpu="8", memory="8Gi")
WEIGHT, UNUSED, POLICY = RULES = (
    ("weight-not-positive", 0),
    ("local-queue-weight-unused", 0),
    ("borrow-within-cohort-ignored", 0),
)


def test_fair_sharing(stage):
    """Kueue starts once for all three; without fair sharing at the end."""
    scenes = stage.all(RULES)
    configuration = {}
    for each in scenes.values():
        for scene in each:
            configuration |= scene.configuration or {}
    assert {"fairSharing", "admissionFairSharing"} <= set(configuration)
    with stage.cluster.kueue(configuration):
        weight_not_positive(stage, *scenes[WEIGHT])
        local_queue_weight_unused(stage, *scenes[UNUSED])
        bad, good = scenes[POLICY]
        stage.send(*(it.jobs(3, HALF, namespace="speech", priority="bulk") for it in (bad, good)))
        stage.becomes("speech", {bad: 3, good: 3}, lambda it: it.held("speech"))
        stage.send(*(it.jobs(1, WHOLE, priority="urgent") for it in (bad, good)))
        stage.becomes("waits", {bad: 1, good: 1}, lambda it: len(it.workloads()))
        stage.stays("urgent", {bad: 0, good: 0}, Scene.held, for_s=1)
    stage.becomes("urgent, without fair sharing", {bad: 1}, Scene.held)
    stage.stays("urgent, without fair sharing", {good: 0}, Scene.held)


def weight_not_positive(stage, bad, good):
    """Each queue has 4 of 12 GPUs, the cohort 4. With weight 0 a queue keeps no GPU of the cohort."""
    stage.send(*(it.jobs(4, PAIR) for it in (bad, good)))
    stage.becomes("borrowed", {bad: 4, good: 4}, Scene.held)
    stage.send(*(it.jobs(4, PAIR, namespace="speech") for it in (bad, good)))
    both = lambda it: [it.held(), it.held("speech")]
    stage.becomes("shared", {bad: [2, 4], good: [3, 3]}, both)
    stage.stays("shared", {bad: [2, 4], good: [3, 3]}, both)


def local_queue_weight_unused(stage, bad, good):
    """Both have run as much; speech came first, and vision has twice its weight."""
    scenes = (bad, good)
    teams = ("speech", "vision")
    stage.send(*(it.jobs(1, HALF, namespace=name, prefix="ran") for it in scenes for name in teams))
    ran = [["ran-0"], ["ran-0"]]
    both = lambda it: [it.admitted(name) for name in teams]
    stage.becomes("ran", {bad: ran, good: ran}, both)
    for name in teams:
        stage.send(*(it.jobs(1, HALF, namespace=name, prefix="next") for it in scenes))
        stage.becomes("wait", {bad: 2, good: 2}, lambda it, at=name: len(it.workloads(at)))
        stage.next_second()
    for it in scenes:
        stage.cluster.delete("batch/v1", "Job", "ran-0", it.of("speech"))
    want = {bad: [["next-0"], ["ran-0"]], good: [[], ["next-0", "ran-0"]]}
    stage.becomes("next", want, both)
    stage.stays("next", want, both)
