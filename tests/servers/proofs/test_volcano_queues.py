"""Queues whose limits and trees have no effect, or affect too many."""

import yaml

from tests.servers.cluster import SCHEDULING
from tests.servers.pages import bad, good
from tests.servers.proofs.volcano_scene import HELD, QUEUE, SHARES, group
from tests.servers.rendering import rendered
from tests.servers.seen import messages
from tests.servers.workloads import Ask, pod, vcjob

HERE = "vision"
"""A namespace, and the queue of most pages."""
TREE = SHARES.replace("- name: capacity", "- name: capacity\n    enableHierarchy: true")


def queue(name, **spec):
    return QUEUE.format(name=name, spec=yaml.safe_dump(spec, default_flow_style=True))


def submit(volcano, *queues, gpus=16, namespace=HERE):
    """Pods of a GPU each in some queues, which start one by one."""
    for name in queues:
        volcano.create(*group(name, namespace, queue=name, pods=gpus))


def has(volcano, count, namespace=HERE):
    """So many GPUs are in use, and so it stays."""
    volcano.becomes("GPUs in use", lambda: volcano.bound(namespace), count)
    volcano.sessions()
    assert volcano.bound(namespace) == count


# Limits


def test_capability_without_gpu(volcano):
    rule = "capability-without-gpu"
    for example, count in ((bad(rule), 16), (good(rule), 0)):
        with volcano.scene(example):
            submit(volcano, "batch")
            has(volcano, count)
    for example, count in ((bad(rule, 1), 16), (good(rule, 1), 8)):
        with volcano.scene(example):
            has(volcano, count)
    with volcano.scene(good(rule, 6), TREE):  # a queue inherits the limit of its parent
        submit(volcano, "trials")
        has(volcano, 8)


def test_queue_resource_not_counted(volcano):
    rule = "queue-resource-not-counted"
    for example, count in ((bad(rule), 16), (bad(rule, 1), 16), (good(rule), 8)):
        with volcano.scene(example):
            submit(volcano, HERE)
            has(volcano, count)


def test_zero_capability_is_not_a_limit(volcano):
    """Pods of a core each."""
    rule = "zero-capability-is-no-limit"
    core = Ask(gpus=0, cpu="1", memory="1Gi")
    for example, waiting in ((bad(rule), 0), (good(rule), 4)):
        with volcano.scene(example):
            volcano.create(*group("cores", HERE, queue="closed", pods=4, ask=core))
            volcano.becomes("waiting", lambda: len(volcano.waiting(HERE)), waiting)
            volcano.sessions()
            assert len(volcano.waiting(HERE)) == waiting


def test_queues_without_plugin(volcano):
    rule = "queues-without-plugin"
    for example, count in ((bad(rule), 16), (good(rule), 8)):
        with volcano.scene(example):
            submit(volcano, HERE)
            has(volcano, count)


def test_workload_in_default_queue(volcano):
    """8 pods of a GPU each; the queue of their team allows 4."""
    rule = "workload-in-default-queue"
    for example, count in ((bad(rule), 8), (good(rule), 4)):
        with volcano.scene(example):
            has(volcano, count)


def test_pods_without_queue(volcano):
    """2 pods of a GPU each."""
    rule = "pods-without-queue"
    for example, count in ((bad(rule), 0), (good(rule), 2)):
        with volcano.scene(example):
            volcano.becomes("pods", lambda: len(volcano.pods(HERE)), 2)
            has(volcano, count)


def test_pods_exceed_capability(volcano):
    rule = "pods-exceed-capability"
    for example, count, waits in ((bad(rule), 8, 4), (bad(rule, 1), 0, 1), (good(rule), 8, 0)):
        with volcano.scene(example):
            has(volcano, count)
            assert len(volcano.waiting(HERE)) == waits


def test_queue_of_another_team(volcano):
    """The gang of team speech takes the 4 GPUs of team vision, whose own gang then waits."""
    rule = "queue-of-another-team"
    share = {"cpu": "48", "memory": "384Gi", "nvidia.com/gpu": 4}
    queues = [queue(f"{team}.a100", deserved=share, capability=share) for team in (HERE, "speech")]
    for example, count in ((bad(rule), 0), (good(rule), 4)):
        [named] = [it for it in yaml.safe_load_all(example) if it["kind"] == "PodGroup"]
        with volcano.scene("---".join(queues)):
            volcano.create(*group("train", "speech", queue=named["spec"]["queue"], pods=4))
            has(volcano, 4, "speech")
            volcano.create(*group("own", HERE, queue=f"{HERE}.a100", pods=4))
            has(volcano, count)


def test_queue_closed(volcano):
    """A gang that waits for a GPU does not start when one becomes free, until the queue is open again."""
    rule = "queue-closed"
    declared, _ = yaml.safe_load_all(bad(rule))
    del declared["status"]
    name = declared["metadata"]["name"]
    with volcano.scene(yaml.safe_dump(declared), volcano.shipped):
        filler, _ = [volcano.fill(node, 8) for node in ("node-0", "node-1")]
        submit(volcano, name, gpus=1)
        volcano.becomes("waits", lambda: len(volcano.waiting(HERE)), 1)
        operate(volcano, name, "CloseQueue", "Closing")
        volcano.delete("v1", "Pod", filler, "others")
        has(volcano, 0)
        assert [it.partition(";")[0] for it in messages(volcano, rule)] == [
            f"Queue {name}: Queue {name} is Closing, so PodGroup vision/{name} cannot start"
        ]
        operate(volcano, name, "OpenQueue", "Open")
        has(volcano, 1)
        assert messages(volcano, rule) == []


def operate(volcano, name, action, state):
    """Open or close a queue as vcctl does, and wait for its state."""
    target = {"apiVersion": SCHEDULING, "kind": "Queue", "name": name, "controller": True}
    target["uid"] = volcano.get(SCHEDULING, "Queue", name)["metadata"]["uid"]
    volcano.create(
        {
            "apiVersion": "bus.volcano.sh/v1alpha1",
            "kind": "Command",
            "metadata": {"name": action.lower(), "namespace": HERE},
            "action": action,
            "target": target,
        }
    )
    now = lambda: volcano.get(SCHEDULING, "Queue", name)["status"]["state"]
    volcano.becomes("state", now, state)


# Shares


def test_deserved_ignored(volcano):
    """Next to a queue of weight 3 without deserved, which also requests all GPUs."""
    rule = "deserved-ignored"
    for example, count in ((bad(rule), 4), (good(rule), 8)):
        share(volcano, example, queue("other", weight=3), count)


def test_queue_weight_ignored(volcano):
    """With weight 10 it has what it deserves; `proportion` would give it all of its capability."""
    rule = "queue-weight-ignored"
    weighed = bad(rule).replace("name: capacity", "name: proportion")
    assert weighed != bad(rule)
    for example, rest, count in ((bad(rule), 12, 4), (weighed, 12, 8), (good(rule), 8, 8)):
        share(volcano, example, queue("other", deserved={"nvidia.com/gpu": str(rest)}), count)


def test_capacity_and_proportion_enabled(volcano):
    """A queue that deserves 12 GPUs has as many as one that deserves 4."""
    rule = "capacity-and-proportion-enabled"
    queues = [
        queue(name, deserved={"nvidia.com/gpu": gpus})
        for name, gpus in ((HERE, "12"), ("other", "4"))
    ]
    for example, count in ((bad(rule), 8), (good(rule), 12)):
        share(volcano, f"{example}---{queues[0]}", queues[1], count)


def share(volcano, example, other, count):
    """Check how many GPUs the page's queue gets if both queues request all 16 at once."""
    with volcano.scene(example):
        volcano.apply(other)
        volcano.hold()
        submit(volcano, HERE)
        submit(volcano, "other", namespace="others")
        volcano.resume()
        volcano.becomes("both", lambda: (volcano.bound(HERE), volcano.bound()), (count, 16))


# Trees


def test_queue_tree_ignored(volcano):
    """Two children take twice what their parent has."""
    rule = "queue-tree-ignored"
    child = queue("research.speech", parent="research", capability={"nvidia.com/gpu": "8"})
    for example, count in ((bad(rule), 16), (good(rule), 8)):
        with volcano.scene(example):
            volcano.apply(child)
            submit(volcano, "research.vision", "research.speech", gpus=8)
            has(volcano, count)


def test_gang_in_non_leaf_queue(volcano):
    """It stops a pod of another queue."""
    rule = "gang-in-non-leaf-queue"
    for example, count in ((bad(rule), 0), (good(rule), 1)):
        with volcano.scene(example, TREE):
            submit(volcano, "default", gpus=1)
            has(volcano, count)


def test_team_queue_has_children(volcano):
    """Volcano refuses a Job in the queue of the team; with a child team, its own queue takes it."""
    rule = "team-queue-has-children"
    for example, name, refused in (
        (bad(rule), f"{HERE}.a100", [f"{HERE}/train"]),
        (good(rule), f"{HERE}.own.a100", []),
    ):
        things = [*yaml.safe_load_all(example)]
        is_spec = ["policygen.dev/" in it["apiVersion"] for it in things]
        spec = [it for it, of_spec in zip(things, is_spec, strict=True) if of_spec]
        made = yaml.safe_load_all(rendered(spec).text)
        queues = [it for it in [*made, *things] if it["kind"] == "Queue"]
        with volcano.scene(yaml.safe_dump_all(queues), TREE):
            job = vcjob("train", HERE, Ask(gpus=1), queue=name)
            outcome = volcano.try_apply(yaml.safe_dump(job))
            assert [document.name for document, _ in outcome.refused] == refused
            if refused:  # a PodGroup is accepted, and stops the pods of other queues
                volcano.create(*group("train", HERE, queue=name, pods=1))
                submit(volcano, "default", gpus=1, namespace="others")
                has(volcano, 0, "others")


def test_default_queue_has_children(volcano):
    """A pod without a queue stops the whole cluster, itself included."""
    rule = "default-queue-has-children"
    for example, count in ((bad(rule), 0), (good(rule), 2)):
        with volcano.scene(example, TREE):
            volcano.apply(queue("other", deserved={"nvidia.com/gpu": "4"}))
            volcano.create(pod("plain", HERE, Ask(gpus=1, scheduler="volcano")))
            volcano.until("its PodGroup", lambda: volcano.objects(SCHEDULING, "PodGroup", HERE))
            submit(volcano, "other", gpus=1)
            has(volcano, count)


def test_root_queue_declared(volcano):
    """A queue without a capability of its own has only half of the cluster's GPUs."""
    rule = "root-queue-declared"
    for example, count in ((bad(rule), 8), (good(rule), 16)):
        with volcano.scene(example, HELD):
            volcano.load(TREE)
            submit(volcano, "default")
            has(volcano, count)
            volcano.hold()


def test_root_is_not_changed_any_more(volcano):
    """Once the scheduler, with its hierarchy on, has written what the nodes have."""
    with volcano.scene(queue("other"), TREE):
        volcano.until(
            "root", lambda: volcano.get(SCHEDULING, "Queue", "root")["spec"].get("deserved")
        )
        outcome = volcano.try_apply(bad("root-queue-declared"), retry_s=0)
        assert [document.name for document, _ in outcome.refused] == ["root"]


# Orders


def test_dequeue_strategy_ignored(volcano):
    """A later job overtakes, with `fifo` as without."""
    rule = "dequeue-strategy-ignored"
    for example in (bad(rule), good(rule)):
        with volcano.scene(example):
            submit(volcano, HERE, gpus=4)
            has(volcano, 4)
            large = group("large", HERE, queue=HERE, pods=8, minimum=8)
            volcano.create(*large)
            volcano.sessions()
            volcano.create(*group("small", HERE, queue=HERE, pods=4, minimum=4))
            has(volcano, 8)
            assert all(name.startswith("large-") for name in volcano.waiting(HERE))
