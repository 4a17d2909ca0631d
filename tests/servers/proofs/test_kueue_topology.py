"""Rules of topologies: Jobs that request a level are not admitted, or their pods find no node."""

from dataclasses import replace

from tests.servers.proofs.scene import USUAL, Scene, part
from tests.servers.workloads import Ask

RACK, BLOCK = "example.com/rack", "example.com/block"
REQUIRED = "kueue.x-k8s.io/podset-required-topology"
POOLS = ("a100", "gpu")
"""The values of label `pool` on these pages."""
HALF = Ask(gpus=4, cpu="16", memory="64Gi")


def in_a_rack(scene, pool="a100", count=1, gpus=8):
    """Nodes of a pool, all in one rack."""
    labels = {"pool": pool, RACK: "r1", BLOCK: "b1"}
    return scene.nodes(count, prefix=pool, labels=labels, gpus=gpus)


def test_no_place_in_a_topology(stage):
    """The same Job on the same nodes; if the page has no Job, one that requests no level."""
    harms = {
        ("topology-missing", 0): "is inactive",
        ("topology-level-unknown", 0): "does not contain the requested level",
        ("topology-request-without-topology", 0): "does not support TopologyAwareScheduling",
        ("topology-levels-swapped", 0): "allows to fit only 1 out of 2 pod(s)",
        ("topology-domain-too-small", 0): "allows to fit only 1 out of 2 pod(s)",
        ("topology-in-two-groups", 0): "more than one TAS flavor assigned",
        ("node-without-topology-level", 0): "no topology domains at level",
    }
    scenes = stage.all(harms)
    bad = {scenes[it][0]: says for it, says in harms.items()}
    good = {scenes[it][1]: 1 for it in harms}
    stage.add(
        *(in_a_rack(it, pool) for it in (*bad, *good) if not it.has("Node") for pool in POOLS)
    )
    stage.send(*(it.jobs() for it in (*bad, *good) if not it.has("Job")))
    stage.becomes("admitted", good, Scene.held)
    large = ("topology-domain-too-small", "topology-levels-swapped")
    used = {**good, **{scenes[it, 0][1]: 16 for it in large}}
    stage.becomes("GPUs on a node", used, Scene.bound)
    stage.becomes("message", bad, lambda it: part(bad[it], it.messages()))
    stage.stays("admitted", dict.fromkeys(bad, 0), Scene.held)


def test_topology_and_plain_flavors_mixed(stage):
    """Jobs that request a rack can use only 4 of the 8 GPUs, and other Jobs only the other 4."""
    bad, good = stage.both("topology-and-plain-flavors-mixed")
    stage.add(*(in_a_rack(it, pool) for it in (bad, good) for pool in ("spot", "reserved")))
    aware = replace(HALF, annotations={REQUIRED: RACK})
    stage.send(*(it.jobs(2, aware, prefix="aware") for it in (bad, good)))
    stage.becomes("aware ones", {bad: 1, good: 2}, Scene.held)
    stage.send(*(it.jobs(2, HALF, prefix="plain") for it in (bad, good)))
    want = {bad: ["aware", "plain"], good: ["aware", "aware"]}
    stage.becomes("admitted", want, kinds)
    stage.becomes("Workloads", {bad: 4, good: 4}, lambda it: len(it.workloads()))
    stage.stays("admitted", want, kinds)


def kinds(scene):
    """The first part of the names of what is admitted."""
    return [name.partition("-")[0] for name in scene.admitted()]


def test_topology_without_hostname(stage):
    """A rack of two nodes of 4 GPUs, 3 in use on each: 2 are free, and no node has 2."""
    bad, good = stage.both("topology-without-hostname")
    stage.add(*(in_a_rack(it, count=2, gpus=4) for it in (bad, good)))
    stage.send(*(it.jobs(1, replace(USUAL, gpus=3), prefix="busy", pods=2) for it in (bad, good)))
    stage.becomes("in use", {bad: 6, good: 6}, Scene.bound)
    stage.send(*(it.jobs(1, replace(USUAL, gpus=2), prefix="late") for it in (bad, good)))
    stage.becomes("admitted", {bad: 2, good: 1}, Scene.held)
    stage.becomes("pods without a node", {bad: 1}, Scene.waiting)
    stage.stays("in use", {bad: 6, good: 6}, Scene.bound)
    stage.stays("admitted", {good: 1}, Scene.held)


def test_topology_level_too_long(stage):
    """The Job is taken; Kueue can't make a Workload of it."""
    bad, good = stage.both("topology-level-too-long")
    stage.add(in_a_rack(good))
    stage.send(*(it.jobs(1, replace(USUAL, annotations={REQUIRED: top(it)})) for it in (bad, good)))
    stage.becomes("admitted", {good: 1}, Scene.held)
    stage.stays("Workloads", {bad: []}, Scene.workloads)


def top(scene):
    """The first level of its Topology."""
    [topology] = [thing for thing in scene.things if thing["kind"] == "Topology"]
    return topology["spec"]["levels"][0]["nodeLabel"]
