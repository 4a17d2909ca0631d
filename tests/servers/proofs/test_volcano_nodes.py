"""The nodes of a queue's or gang's pods, and guarantees that exceed the nodes."""

import yaml

from tests.servers.nodes import Shape
from tests.servers.pages import bad, good
from tests.servers.proofs.volcano_scene import GPUS, NODE, ONE, group, members, replaced
from tests.servers.workloads import Ask, pod

NODES = 0
"""Only those of each scene."""
HERE = "vision"
GROUP = "volcano.sh/nodegroup-name"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
HYPER_NODE = """
---
apiVersion: topology.volcano.sh/v1alpha1
kind: HyperNode
metadata: {{name: {name}}}
spec:
  tier: 1
  members:
  - {{type: Node, selector: {{exactMatch: {{name: {first}}}}}}}
  - {{type: Node, selector: {{exactMatch: {{name: {second}}}}}}}
"""

TOPOLOGIES = good("gang-exceeds-hyper-node").partition("---")[0]
"""A configuration with the plugin that reads HyperNodes."""


def node(volcano, name, **labels):
    """A node of 8 GPUs; returns its name."""
    shape = Shape(gpus=GPUS, cpu=NODE.cpu, memory=NODE.memory, labels=labels)
    (found,) = volcano.add_nodes(shape, prefix=name)
    return found


def on(volcano, *nodes):
    """GPUs of the page's namespace on some nodes."""
    placed = volcano.placement(namespace=HERE)
    return tuple(placed[name] for name in nodes)


def has(volcano, nodes, *counts):
    """So many GPUs are in use on the nodes, and so it stays."""
    volcano.becomes("GPUs on nodes", lambda: on(volcano, *nodes), counts)
    volcano.sessions()
    assert on(volcano, *nodes) == counts


# Node groups


def test_queue_affinity_ignored(volcano):
    """Half of each node is free: it takes the other queue's too."""
    rule = "queue-affinity-ignored"
    for example, astray in ((bad(rule), 4), (good(rule), 0)):
        with volcano.scene():
            nodes = node(volcano, "own", **{GROUP: "h100"}), node(volcano, "other", **{GROUP: "a"})
            for name in nodes:
                volcano.fill(name, 4)
            volcano.show(example)
            volcano.create(*group("job", HERE, queue=HERE, pods=8))
            has(volcano, nodes, 4, astray)


def test_queue_affinity_missing(volcano):
    rule = "queue-affinity-missing"
    for example, count in ((bad(rule), 0), (good(rule), 8)):
        with volcano.scene():
            nodes = node(volcano, "plain"), node(volcano, "group", **{GROUP: "h100"})
            volcano.show(example)
            volcano.create(*group("job", HERE, queue=HERE, pods=8))
            has(volcano, nodes, count, 0)
    # An affinity that only excludes a group allows neither other groups nor nodes without one.
    away = f"nodeGroupAntiAffinity: {{{REQUIRED}: [a100]}}"
    toward = f"nodeGroupAffinity: {{{REQUIRED}: [h100]}}"
    for affinity, count in ((away, 0), (f"{toward}, {away}", 8)):
        with volcano.scene():
            nodes = node(volcano, "plain"), node(volcano, "group", **{GROUP: "h100"})
            volcano.show(f"{good(rule)}  affinity: {{{affinity}}}\n")
            volcano.create(*group("job", HERE, queue=HERE, pods=8))
            has(volcano, nodes, 0, count)


def test_node_group_without_nodes(volcano):
    rule = "node-group-without-nodes"
    for example, count in ((bad(rule), 0), (good(rule), 8)):
        with volcano.scene(example, good("queue-affinity-ignored").partition("---")[0]):
            volcano.create(*group("job", HERE, queue=HERE, pods=8))
            has(volcano, ["gpu-1-0"], count)


# Networks


def test_network_topology_ignored(volcano):
    """Of each spine one node is free."""
    rule = "network-topology-ignored"
    for example, count in ((bad(rule), 8), (good(rule), 0)):
        with volcano.scene():
            nodes = volcano.add_nodes(NODE, 4, prefix="n")
            spines = [("left", *nodes[:2]), ("right", *nodes[2:])]
            hyper = "".join(HYPER_NODE.format(name=n, first=f, second=s) for n, f, s in spines)
            volcano.fill(nodes[0], 1)
            busy = volcano.fill(nodes[3], 1)
            volcano.show(example + hyper)
            volcano.create(*members("pretraining", HERE, 2, Ask(gpus=8)))
            has(volcano, nodes, 0, count, count, 0)
            if not count:
                volcano.delete("v1", "Pod", busy, "others")
                has(volcano, nodes, 0, 0, 8, 8)


def test_gang_exceeds_hyper_node(volcano):
    """On four idle nodes, two in each leaf. A tier above all HyperNodes and mode soft allow all nodes."""
    rule = "gang-exceeds-hyper-node"
    low, high = bad(rule), good(rule)
    above, soft = low.replace("Allowed: 1", "Allowed: 3"), low.replace("hard", "soft")
    for example, count in ((low, 0), (high, 24), (above, 24), (soft, 24)):
        with volcano.scene(example):
            volcano.becomes("pods", lambda: len(volcano.pods(HERE)), 3)
            starts(volcano, count)


def test_gang_exceeds_hyper_node_by_min_resources(volcano):
    """A leaf of two nodes has room for the small pods, but not for the minResources of three nodes."""
    rule = "gang-exceeds-hyper-node"
    for example, count in ((bad(rule, 1), 0), (good(rule, 1), 3)):
        with volcano.scene(example, TOPOLOGIES):
            volcano.create(*members("pretraining", HERE, 3, ONE))
            starts(volcano, count)


def test_hyper_node_member_missing(volcano):
    """Only the complete spine has room for the gang."""
    rule = "hyper-node-member-missing"
    *_, gang = good("gang-exceeds-hyper-node").split("---\n")
    for example, count in ((bad(rule), 0), (good(rule), 24)):
        with volcano.scene(f"{example}---\n{gang}", TOPOLOGIES):
            volcano.becomes("pods", lambda: len(volcano.pods(HERE)), 3)
            starts(volcano, count)


def starts(volcano, count):
    """So many GPUs are in use, and so it stays."""
    volcano.becomes("GPUs", lambda: volcano.bound(HERE), count)
    volcano.sessions()
    assert volcano.bound(HERE) == count


# Promises


def test_guarantees_exceed_cluster(volcano):
    """The cluster is idle, but a queue without a guarantee gets nothing."""
    rule = "guarantees-exceed-cluster"
    for example, count in ((bad(rule), 0), (good(rule), 2)):
        with volcano.scene(example):
            volcano.create(*group("job", HERE, queue="default", pods=8))
            has(volcano, ["gpu-1-0"], count)


def test_deserved_exceeds_cluster(volcano):
    """Nothing comes back to a queue, since no other has more than it deserves."""
    rule = "deserved-exceeds-cluster"
    reclaim = good("gang-plugin-blocks-preemption")
    for example, count in ((bad(rule), 0), (good(rule), 4)):
        with volcano.scene(example, reclaim):
            volcano.create(replaced("first", "others", queue="vision", pods=8))
            volcano.becomes("all of it", lambda: volcano.bound("others"), 8)
            volcano.create(*group("second", HERE, queue="speech", pods=4, minimum=4))
            both = lambda: (volcano.bound(HERE), volcano.bound("others"))
            volcano.becomes("GPUs in use", both, (count, 8 - count))
            volcano.sessions()
            volcano.becomes("GPUs in use", both, (count, 8 - count))


# Cards

CARDS = "".join(f"GPU-{i},100,81920,NVIDIA-A100,true,hami-core:" for i in range(4))
DEVICES = {"volcano.sh/node-vgpu-register": CARDS}
HANDSHAKE = {"volcano.sh/node-vgpu-handshake": "Requesting_2099.01.01 00:00:00"}
"""As Volcano's device plugin and scheduler leave them; with that time neither is asked again."""
NUMBER, MEMORY = "volcano.sh/vgpu-number", "volcano.sh/vgpu-memory"


def test_deviceshare_does_not_pack_nodes(volcano):
    """Six small pods, one after another, on four nodes of four shared cards."""
    rule = "deviceshare-does-not-pack-nodes"
    shape = Shape(gpus=0, extended={NUMBER: 400, MEMORY: 4 * 81920})
    change = {"metadata": {"annotations": {**DEVICES, **HANDSHAKE}}}
    with volcano.scene(bad(rule)):  # before the nodes: it looks for cards on those that change
        for name in volcano.add_nodes(shape, 4, prefix="shared"):
            volcano.patch("v1", "Node", name, change)
        assert nodes_of_shares(volcano, bad(rule), "bad") > 1
        assert nodes_of_shares(volcano, good(rule), "good") == 1


def nodes_of_shares(volcano, example, namespace):
    """On how many nodes six pods run that request an 80th of a card each."""
    volcano.show(example)
    for i in range(6):
        made = pod(f"share-{i}", namespace, Ask(gpus=1, resource=NUMBER, scheduler="volcano"))
        made["spec"]["containers"][0]["resources"]["limits"][MEMORY] = "1024"
        volcano.create(made)
        volcano.becomes("placed", lambda: volcano.waiting(namespace), [])
        volcano.sessions(2)  # so that it knows which card was given
    used = {made["spec"]["nodeName"] for made in volcano.pods(namespace)}
    for i in range(6):
        volcano.delete("v1", "Pod", f"share-{i}", namespace)
    volcano.becomes("gone", lambda: len(volcano.pods(namespace)), 0)
    return len(used)


def test_volcano_strands_gpus(volcano):
    """The page's Jobs on its two nodes, the small ones first."""
    rule = "volcano-strands-gpus"
    for example, gpus in ((bad(rule), 2), (good(rule), 10)):
        rest, *jobs = example.split("---\napiVersion: batch.volcano.sh")
        with volcano.scene(rest):
            for number, job in enumerate(jobs):
                volcano.create(yaml.safe_load(f"apiVersion: batch.volcano.sh{job}"))
                want = gpus if number == 2 else number + 1
                volcano.becomes("GPUs", lambda: volcano.bound(HERE), want)
            volcano.sessions()
            assert volcano.bound(HERE) == gpus
