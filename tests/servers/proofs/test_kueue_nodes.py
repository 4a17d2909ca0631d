"""Quota that does not match the nodes: Jobs take quota, but their pods wait or run elsewhere."""

from dataclasses import dataclass

from tests.servers.proofs.scene import USUAL, Scene
from tests.servers.workloads import GPU, Ask

WHOLE = Ask(gpus=8, cpu="16", memory="64Gi")
HALF = Ask(gpus=4, cpu="16", memory="64Gi")
TAINT = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}


@dataclass(frozen=True)
class Seen:
    """What Kueue has admitted, and what became of the pods."""

    jobs: int
    gpus: int
    """Of pods that are on a node."""
    pending: int
    """Pods without a node."""


@dataclass(frozen=True)
class Harm:
    bad: Seen
    good: Seen
    ask: Ask | None = None
    """Two Jobs like it are sent; None: the page has its own Job."""


HARMS = {
    ("flavor-matches-no-node", 0): Harm(Seen(2, 0, 2), Seen(2, 2, 0), USUAL),
    ("node-label-misspelt", 0): Harm(Seen(1, 0, 1), Seen(1, 1, 0)),
    ("node-taint-not-tolerated", 0): Harm(Seen(2, 0, 2), Seen(2, 2, 0), USUAL),
    ("quota-exceeds-capacity", 0): Harm(Seen(2, 8, 1), Seen(1, 8, 0), WHOLE),
    ("quota-exceeds-capacity", 1): Harm(Seen(2, 8, 1), Seen(1, 8, 0), WHOLE),
    ("quota-of-one-node", 0): Harm(Seen(1, 8, 0), Seen(2, 16, 0), WHOLE),
    ("quota-unlimited", 0): Harm(
        Seen(2, 1, 1), Seen(1, 1, 0), Ask(gpus=1, cpu="64", memory="64Gi")
    ),
    ("selector-ignored-by-flavor", 0): Harm(Seen(1, 0, 1), Seen(1, 1, 0)),
    ("workload-never-starts", 0): Harm(Seen(1, 0, 1), Seen(1, 8, 0)),
}


def seen(scene):
    return Seen(scene.held(), scene.bound(), scene.waiting())


def test_quota_that_is_not_that_of_the_nodes(stage):
    scenes = stage.all(HARMS)
    want = {scenes[it][0]: harm.bad for it, harm in HARMS.items()}
    want |= {scenes[it][1]: harm.good for it, harm in HARMS.items()}
    for scene in scenes["quota-unlimited", 0]:
        stage.add(scene.nodes(labels={"pool": "a100"}, cpu="96"))
    for scene in scenes["node-label-misspelt", 0]:
        stage.add(scene.nodes(labels={"gpu-type": "a100"}))
    for scene in scenes["selector-ignored-by-flavor", 0]:
        stage.add(
            scene.nodes(prefix="spot", labels={"provisioning": "spot"}),
            scene.nodes(labels={"provisioning": "reserved", "reservation": "training"}),
        )
    asks = {scene: harm.ask for it, harm in HARMS.items() for scene in scenes[it] if harm.ask}
    stage.send(*(scene.jobs(2, ask) for scene, ask in asks.items()))
    stage.becomes("seen", want, seen)
    stage.stays("seen", want, seen)


def test_quota_beside_a_daemon_set(stage):
    """Kueue does not count its pod, so it admits a Job for whose pod the node has too few GPUs."""
    bad, good = scenes = stage.both("quota-exceeds-capacity", 2, fixed=0)
    stage.becomes("GPUs of the DaemonSet", {bad: 1}, lambda it: it.bound("search"))
    stage.send(*(scene.jobs(1, WHOLE) for scene in scenes))
    want = {bad: Seen(1, 0, 1), good: Seen(1, 8, 0)}
    stage.becomes("seen", want, seen)
    stage.stays("seen", want, seen)


def test_flavors_overlap(stage):
    """One node of 8 GPUs, and two queues with a flavor each for it: both fill their 8."""
    bad, good = scenes = stage.both("flavors-overlap", fixed=1)
    stage.add(*(scene.nodes(labels={"pool": "a100"}) for scene in scenes))
    teams = ("vision", "speech")
    stage.send(*(scene.jobs(2, HALF, namespace=team) for scene in scenes for team in teams))
    admitted = lambda it: [it.held(team) for team in teams]
    in_use = lambda it: sum(it.bound(team) for team in teams)
    pending = lambda it: sum(it.waiting(team) for team in teams)
    stage.becomes("admitted", {bad: [2, 2], good: [1, 1]}, admitted)
    stage.becomes("GPUs in use", {bad: 8, good: 8}, in_use)
    stage.becomes("pods without a node", {bad: 2, good: 0}, pending)
    stage.stays("pods without a node", {bad: 2, good: 0}, pending)


def test_the_flavor_that_is_charged(stage):
    """The order of flavors decides, not the Job's node selector or the queue's own quota."""
    a100 = Ask(gpus=1, cpu="8", memory="64Gi", node_selector={"pool": "a100"})
    harms = {
        ("flavor-without-labels-first", 0): (a100, 1, ["any"], ["a100"]),
        ("flavor-taint-ignored", 0): (USUAL, 1, ["spot"], ["reserved"]),
        ("borrows-before-next-flavor", 0): (HALF, 2, ["spot", "spot"], ["reserved", "spot"]),
    }
    scenes = stage.all(harms)
    stage.send(
        *(scene.jobs(count, ask) for it, (ask, count, *_) in harms.items() for scene in scenes[it])
    )
    want = {scenes[it][0]: bad for it, (*_, bad, _) in harms.items()}
    want |= {scenes[it][1]: good for it, (*_, good) in harms.items()}
    stage.becomes("flavors", want, lambda it: sorted(it.flavors().values()))
    tolerant = Ask(gpus=1, cpu="8", tolerations=[{"key": "example.com/spot", "operator": "Exists"}])
    _, good = scenes["flavor-taint-ignored", 0]
    stage.send(good.jobs(1, tolerant, prefix="tolerant"))
    stage.becomes("flavors", {good: ["reserved", "spot"]}, lambda it: sorted(it.flavors().values()))


def test_flavor_labels_collide(stage):
    """Each pod is charged to two flavors, but can use only the nodes of one."""
    bad, good = scenes = stage.both("flavor-labels-collide")
    stage.add(*(scene.nodes(labels={"pool": "a100"}) for scene in scenes))
    stage.send(bad.jobs(4), good.jobs(4))
    stage.becomes("pods", {bad: 4, good: 4}, lambda it: len(it.pods()))
    stage.becomes("GPUs in use", {good: 4}, Scene.bound)
    assert charged_elsewhere(bad) == {f"job-{i}": 1 for i in range(4)}
    assert charged_elsewhere(good) == {f"job-{i}": 0 for i in range(4)}


def test_flavors_of_two_groups_have_no_node_in_common(stage):
    """A pod gets the labels of both flavors, but no node has both."""
    bad, good = scenes = stage.both("flavor-labels-collide", 1, fixed=2)
    stage.send(*(scene.jobs() for scene in scenes))
    stage.becomes("GPUs in use", {good: 1}, Scene.bound)
    stage.becomes("admitted", {bad: 1}, Scene.held)
    stage.becomes("pods that wait", {bad: 1}, Scene.waiting)
    stage.stays("pods that wait", {bad: 1}, Scene.waiting)


def charged_elsewhere(scene):
    """For each Job's pod: how many flavors are charged whose nodes it cannot use."""
    charged = [scene.flavors(resource=resource) for resource in ("cpu", "memory", GPU)]
    return {
        pod["metadata"]["labels"]["job-name"]: len(
            {flavors[pod["metadata"]["labels"]["job-name"]] for flavors in charged}
            - {scene.page(pod["spec"]["nodeSelector"]["pool"])}
        )
        for pod in scene.pods()
    }


def test_flavor_tolerates_without_labels(stage):
    """Two pods, for which the tainted node has room; without its label one goes elsewhere."""
    bad, good = scenes = stage.both("flavor-tolerates-without-labels")
    stage.add(*(it.nodes(prefix="a100", labels={"pool": "a100"}, taints=[TAINT]) for it in scenes))
    stage.send(good.jobs(1, HALF, pods=2))
    stage.becomes("nodes", {good: ["a100-0", "a100-0"]}, Scene.nodes_of)
    stage.add(bad.nodes(prefix="other", labels={"pool": "other"}))
    stage.send(bad.jobs(1, HALF, pods=2))
    stage.becomes("nodes", {bad: ["a100-0", "other-0"]}, Scene.nodes_of)
