"""Lent shares that do not come back, and deserved shares that are taken away."""

import yaml

from tests.servers.pages import bad, good
from tests.servers.proofs.examples import documents
from tests.servers.proofs.volcano_scene import QUEUE, group, members, replaced
from tests.servers.workloads import GPU, Ask

RECLAIM = """
actions: "allocate, reclaim, backfill"
tiers:
- plugins:
  - name: priority
  - name: conformance
  - name: capacity
- plugins:
  - name: predicates
"""
HIGH = """
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 1000
"""
ONE = Ask(gpus=1)
ALL = 16
"""GPUs of both nodes."""


def owner(name, gpus, **spec):
    """A queue that deserves so many GPUs."""
    return QUEUE.format(name=name, spec={"deserved": {"nvidia.com/gpu": str(gpus)}, **spec})


def run(volcano, name, pods, minimum=None, ask=ONE):
    """A job of a queue, in a namespace of the same name: all of it starts, on GPUs that are free.

    Without a minimum, new pods replace evicted ones.
    """
    if minimum is None:
        volcano.create(replaced("job", name, queue=name, pods=pods, ask=ask))
    else:
        claim(volcano, name, pods, minimum, ask)
    volcano.becomes(f"{name} runs", lambda: volcano.bound(name), pods)


def claim(volcano, name, pods, minimum=None, ask=ONE):
    """A job of a queue; its pods start together unless `minimum` is set."""
    made = group("job", name, queue=name, pods=pods, minimum=minimum or pods, ask=ask)
    volcano.create(*made)


def have(volcano, **gpus):
    """The queues have so many GPUs in use, and so it stays."""
    volcano.becomes("GPUs in use", lambda: {name: volcano.bound(name) for name in gpus}, gpus)
    volcano.sessions()
    assert {name: volcano.bound(name) for name in gpus} == gpus


def test_reclaim_never_runs(volcano):
    rule = "reclaim-never-runs"
    for example, count in ((bad(rule), 0), (bad(rule, 1), 0), (good(rule), 8)):
        with volcano.scene(example):
            run(volcano, "vision", ALL)
            claim(volcano, "speech", 8)
            have(volcano, vision=ALL - count, speech=count)


def test_borrowing_queue_not_reclaimable(volcano):
    rule = "borrowing-queue-not-reclaimable"
    for example, borrows, count in ((bad(rule), 8, 0), (good(rule), 0, 8)):
        with volcano.scene(example + "---" + owner("speech", 8), RECLAIM):
            claim(volcano, "vision", ALL, 1)
            have(volcano, vision=8 + borrows)
            claim(volcano, "speech", 8)
            have(volcano, vision=8 + borrows, speech=count)


def test_gang_plugin_blocks_preemption(volcano):
    rule = "gang-plugin-blocks-preemption"
    queues = f"---{owner('vision', 8)}---{owner('speech', 8)}"
    for example, count in ((bad(rule), 0), (good(rule), 8)):
        with volcano.scene(example + queues):
            run(volcano, "vision", ALL, ALL)
            claim(volcano, "speech", 8)
            have(volcano, vision=ALL - count, speech=count)


def test_reclaim_ignores_queue_shares(volcano):
    """Both deserve 8 GPUs, and there are 8: who has them keeps them, if shares count."""
    rule = "reclaim-ignores-queue-shares"
    queues = f"---{owner('vision', 8)}---{owner('speech', 8)}"
    for example, left in ((bad(rule), 0), (good(rule), 8)):
        with volcano.scene():
            volcano.fill("node-1", 8)
            volcano.show(example + queues)
            run(volcano, "vision", 8, 1)
            claim(volcano, "speech", 8)
            have(volcano, vision=left, speech=8 - left)


def test_queue_without_deserved(volcano):
    """It loses all of its GPUs to a queue that deserves some."""
    rule = "queue-without-deserved"
    for example, left in ((bad(rule), 0), (good(rule), 8)):
        with volcano.scene():
            volcano.fill("node-1", 8)
            volcano.show(example + "---" + owner("speech", 8), RECLAIM)
            run(volcano, "vision", 8)
            claim(volcano, "speech", 8)
            have(volcano, vision=left, speech=8 - left)


def test_deserved_without_gpu(volcano):
    """Its GPUs are not reclaimed as long as it has no more cpu and memory than it deserves."""
    rule, small = "deserved-without-gpu", Ask(gpus=1, cpu="1", memory="1Gi")
    nothing = good(rule).replace("nvidia.com/gpu: 8}", "nvidia.com/gpu: 0}", 1)
    for example, is_reclaimed in ((bad(rule), False), (nothing, True)):
        with volcano.scene():
            volcano.fill("node-1", 8)
            volcano.show(example)
            run(volcano, "vision", 8, ask=small)
            claim(volcano, "speech", 8, ask=small)
            if is_reclaimed:
                volcano.until("some GPUs are reclaimed", lambda: volcano.bound("speech"))
            else:
                have(volcano, vision=8, speech=0)


def test_gang_cannot_reclaim(volcano):
    rule = "gang-cannot-reclaim"
    mine = Ask(gpus=1, priority="training")
    for example, count in ((bad(rule), 0), (good(rule), 4)):
        with volcano.scene(example + "---" + owner("speech", 8)):
            run(volcano, "speech", ALL)
            volcano.create(*members("training", "vision", 4, mine))
            have(volcano, speech=ALL - count, vision=count)


def test_enqueue_blocks_preemption(volcano):
    """A full queue and a job of it that ranks above what fills it; a full cluster and an owner's job."""
    rule = "enqueue-blocks-preemption"
    full = f"{HIGH}---{owner('vision', 8, capability={GPU: '8'})}"
    for example, count in ((bad(rule), 0), (good(rule), 4)):
        with volcano.scene(f"{example}---{full}"):
            submit(volcano, "low", "vision", 8)
            have(volcano, low=8)
            submit(volcano, "high", "vision", 4, priority="high")
            have(volcano, low=8 - count, high=count)
    owners = f"{owner('vision', 8)}---{owner('speech', 8)}"
    for example, count in ((bad(rule, 1), 0), (good(rule), 8)):
        with volcano.scene(f"{example}---{owners}"):
            submit(volcano, "first", "vision", ALL)
            have(volcano, first=ALL)
            submit(volcano, "second", "speech", 8)
            have(volcano, first=ALL - count, second=count)


def test_preempt_never_runs(volcano):
    rule = "preempt-never-runs"
    for example, count in ((bad(rule), 0), (good(rule), 4)):
        parts = yaml.safe_dump_all(it for it in documents(example) if it.get("kind") != "Job")
        with volcano.scene(f"{parts}---{owner('vision', ALL)}"):
            submit(volcano, "low", "vision", ALL, priority="bulk")
            have(volcano, low=ALL)
            submit(volcano, "high", "vision", 4, priority="urgent")
            have(volcano, low=ALL - count, high=count)


def submit(volcano, namespace, queue, pods, priority=None):
    """A job whose pods all start together, with minResources."""
    made = group(
        "job",
        namespace,
        queue=queue,
        pods=pods,
        ask=Ask(gpus=1, priority=priority),
        minimum=pods,
        min_resources={GPU: str(pods)},
        priority=priority,
    )
    volcano.create(*made)
