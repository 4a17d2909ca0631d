"""Gangs that wait forever, or start in part: each page's bad example, and then its good one."""

import pytest
import yaml

from tests.servers.pages import bad, good
from tests.servers.proofs.volcano_scene import OTHERS, SHARES, group, members, split
from tests.servers.workloads import VOLCANO_GROUP, Ask, job, pod, vcjob

ONE = Ask(gpus=1)
HERE, NAME = "vision", "training"
"""The namespace of the pages, and the name of the gang."""
VOLCANO_JOB = "batch.volcano.sh/v1alpha1", "Job", NAME
CLASS = """
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {{name: {name}}}
value: {value}
"""


def gpus(volcano):
    """In use in the page's namespace."""
    return volcano.bound(HERE)


def has(volcano, count):
    """So many GPUs are in use, and so it stays."""
    volcano.becomes("GPUs in use", lambda: gpus(volcano), count)
    volcano.sessions()
    assert gpus(volcano) == count


def ranks(volcano, count, **labels):
    """So many pods of the page's gang."""
    volcano.create(*members(NAME, HERE, count, ONE, **labels))


def phase(volcano):
    return volcano.phases(HERE)[NAME]


# Gangs that wait forever


def test_gang_larger_than_its_pods(volcano):
    waits_forever(volcano, "gang-larger-than-its-pods")


@pytest.mark.parametrize(("number", "first", "all_pods"), [(1, 1, 5), (2, 2, 5)])
def test_gang_waits_for_tasks_that_depend_on_it(volcano, number, first, all_pods):
    """The pods of a task with dependsOn exist only when the other task runs."""
    rule = "gang-larger-than-its-pods"
    for example, count in ((bad(rule, number), 0), (good(rule, number), all_pods)):
        with volcano.scene(example, volcano.shipped):
            volcano.until("first pods", lambda: len(volcano.pods(HERE)) >= first)
            has(volcano, count)
            assert len(volcano.pods(HERE)) == (first if count == 0 else all_pods)


def test_gang_role_without_pods(volcano):
    waits_forever(volcano, "gang-role-without-pods")


def waits_forever(volcano, rule):
    """The bad example's four pods never start, with 16 GPUs free; the good one's do."""
    for example, count in ((bad(rule), 0), (good(rule), 4)):
        with volcano.scene(example, volcano.shipped):
            volcano.becomes("the Job's pods", lambda: len(volcano.pods(HERE)), 4)
            has(volcano, count)


def test_pod_group_missing(volcano):
    """The pod waits beside free GPUs."""
    for example, count in ((bad("pod-group-missing"), 2), (good("pod-group-missing"), 3)):
        with volcano.scene(example, volcano.shipped):
            volcano.becomes("pods", lambda: len(volcano.pods(HERE)), 3)
            has(volcano, count)


def test_gang_exceeds_queue(volcano):
    """16 GPUs are free in the cluster, and 8 are what the queue may have."""
    rule = "gang-exceeds-queue"
    for example, pods, count in ((bad(rule), 16, 0), (good(rule), 8, 8)):
        with volcano.scene(example, volcano.shipped):
            ranks(volcano, pods)
            has(volcano, count)
    for example, count in ((bad(rule, 1), 0), (good(rule, 1), 8)):
        with volcano.scene(example, volcano.shipped):
            volcano.until("its PodGroup", lambda: volcano.phases(HERE))
            has(volcano, count)
    for example, count in ((bad(rule, 2), 0), (good(rule, 2), 8)):  # minResources are too low
        with volcano.scene(example, volcano.shipped):
            volcano.becomes("pods", lambda: len(volcano.pods(HERE)), 4)
            has(volcano, count)


def test_plugin_task_missing(volcano):
    """The controller creates both pods, but adds no environment variables."""
    rule = "plugin-task-missing"
    for example, knows in ((bad(rule), False), (good(rule), True)):
        with volcano.scene(example, volcano.shipped):
            volcano.becomes("the Job's pods", lambda: len(volcano.pods(HERE)), 2)
            for it in volcano.pods(HERE):
                names = {env["name"] for env in it["spec"]["containers"][0].get("env", ())}
                assert ({"MASTER_ADDR", "RANK", "WORLD_SIZE"} <= names) is knows, names


def ends(volcano, role=""):
    """The pods of a task, or all, succeed once all of the Job run."""
    volcano.becomes("running pods", lambda: len(running(volcano)), 2)
    for it in running(volcano):
        if role in it["metadata"]["name"]:
            status = {"status": {"phase": "Succeeded"}}
            volcano.patch("v1", "Pod", it["metadata"]["name"], status, HERE, "status")


def running(volcano):
    return [it for it in volcano.pods(HERE) if it["status"].get("phase") == "Running"]


def state(volcano):
    return volcano.get(*VOLCANO_JOB, HERE).get("status", {}).get("state", {}).get("phase")


def test_min_success_exceeds_pods(volcano):
    rule = "min-success-exceeds-pods"
    for example, end in ((bad(rule), "Failed"), (good(rule), "Completed")):
        with volcano.scene(example, volcano.shipped):
            ends(volcano)
            volcano.becomes("its state", lambda: state(volcano), end)


def test_mpi_workers_keep_running(volcano):
    """Only with the policy, the end of the master ends the Job, and its worker."""
    rule = "mpi-workers-keep-running"
    for example, end, left in ((bad(rule), "Running", 1), (good(rule), "Completed", 0)):
        with volcano.scene(example, volcano.shipped):
            ends(volcano, "master")
            volcano.becomes("running pods", lambda: len(running(volcano)), left)
            volcano.becomes("its state", lambda: state(volcano), end)
            volcano.sessions()
            assert len(running(volcano)) == left


def test_gang_needs_reserved_gpus(volcano):
    """16 GPUs are free in the cluster, and 8 of them are guaranteed to an idle queue."""
    rule = "gang-needs-reserved-gpus"
    for example, pods, count in ((bad(rule), 12, 0), (good(rule), 8, 8)):
        with volcano.scene(yaml.safe_dump_all(split(example)[2])):
            ranks(volcano, pods)
            has(volcano, count)


def test_gang_above_deserved(volcano):
    """The other queue takes back some GPUs, and the rest of the gang keeps its own."""
    rule = "gang-above-deserved"
    reclaim = good("gang-plugin-blocks-preemption")
    for example, pods in ((bad(rule), 12), (good(rule), 8)):
        with volcano.scene(example, reclaim):
            ranks(volcano, pods)
            has(volcano, pods)
            volcano.create(*group("other", OTHERS, queue="speech", pods=8, minimum=8))
            volcano.becomes("what it deserves", lambda: volcano.bound(OTHERS), 8)
            volcano.sessions()
            assert 0 < gpus(volcano) <= 8
            assert (gpus(volcano) < pods) is (pods > 8)


def test_quota_below_gang(volcano):
    """Four of eight pods are made, and hold nothing."""
    rule = "quota-below-gang"
    work = job(NAME, HERE, Ask(scheduler="volcano", annotations={VOLCANO_GROUP: NAME}), pods=8)
    for example, pods, count in ((bad(rule), 4, 0), (good(rule), 8, 8)):
        with volcano.scene(example, volcano.shipped):
            volcano.until("the quota counts", lambda: "hard" in quota(volcano).get("status", {}))
            volcano.create(work)
            volcano.becomes("pods", lambda: len(volcano.pods(HERE)), pods)
            has(volcano, count)
            assert len(volcano.pods(HERE)) == pods


def quota(volcano):
    return volcano.get("v1", "ResourceQuota", "gpus", HERE)


# In part

ROOM = 2
"""GPUs that are free, of 16."""


def test_gang_scheduler_not_volcano(volcano):
    """A Job of Kubernetes and a Job of Volcano start in part; a queue of 2 GPUs has 4."""
    rule = "gang-scheduler-not-volcano"
    starts_in_part(volcano, rule)
    starts_in_part(volcano, rule, 1)
    for example, count in ((bad(rule, 2), 4), (good(rule, 2), 2)):
        with volcano.scene(example, SHARES):
            has(volcano, count)


@pytest.mark.parametrize("bad_one, good_one", [(1, 2), (2, 3)], ids=["vcjob", "job"])
def test_ranks_not_gang_scheduled(volcano, bad_one, good_one):
    """With room for 4 of 8 ranks, 4 of the bad example hold GPUs; the good one waits for room."""
    rule = "ranks-not-gang-scheduled"
    for example, count in ((bad(rule, bad_one), 4), (good(rule, good_one), 0)):
        with volcano.scene():
            volcano.fill("node-0", 8)
            last = volcano.fill("node-1", 4)
            volcano.show(example, volcano.shipped)
            volcano.becomes("pods", lambda: len(volcano.pods(HERE)), 8)
            has(volcano, count)
            volcano.delete("v1", "Pod", last, OTHERS)
            has(volcano, 8)


def test_a_misspelt_scheduler_of_a_volcano_job(volcano):
    """Its pods are created and no scheduler looks for a node; with the exact name they start."""
    rule = "scheduler-name-misspelt"
    for example, count in ((bad(rule, 1), 0), (good(rule, 1), 4)):
        with volcano.scene(example, volcano.shipped):
            volcano.becomes("pods", lambda: len(volcano.pods(HERE)), 4)
            has(volcano, count)
            assert count or not any(it["status"].get("conditions") for it in volcano.pods(HERE))


def test_gang_size_on_pod(volcano):
    starts_in_part(volcano, "gang-size-on-pod")


def test_pod_group_without_pods(volcano):
    starts_in_part(volcano, "pod-group-without-pods")


def starts_in_part(volcano, rule, number=0):
    """With room for two of four pods, two of the bad example's hold GPUs; the good one's wait."""
    for example, count in ((bad(rule, number), ROOM), (good(rule, number), 0)):
        with volcano.scene():
            volcano.fill("node-0", 8)
            last = volcano.fill("node-1", 8 - ROOM)
            volcano.show(example, volcano.shipped)
            volcano.becomes("pods", lambda: len(volcano.pods(HERE)), 4)
            has(volcano, count)
            volcano.delete("v1", "Pod", last, OTHERS)
            has(volcano, 4)


def test_min_task_member_ignored(volcano):
    """Four workers without their master."""
    rule = "min-task-member-ignored"
    for example, count in ((bad(rule), 4), (good(rule), 0)):
        with volcano.scene(example, volcano.shipped):
            ranks(volcano, 4, role="worker")
            has(volcano, count)
            ranks(volcano, 1, first=4, role="master")
            has(volcano, 5)


def test_minimums_of_tasks_ignored(volcano):
    """Workers run although no node has room for their master; with a sum that fits, they wait."""
    rule = "min-task-member-ignored"
    for example, count in ((bad(rule, 1), 4), (good(rule, 1), 0)):
        with volcano.scene(example, volcano.shipped):
            volcano.becomes("the Job's pods", lambda: len(volcano.pods(HERE)), 5)
            has(volcano, count)


# Let in, and evicted


def test_gang_without_min_resources(volcano):
    """The queue is full: a gang with minResources is Pending; without, it is Inqueue and holds 0."""
    rule = "gang-without-min-resources"
    for example, want in ((bad(rule), "Inqueue"), (good(rule), "Pending")):
        with volcano.scene(queues(example), volcano.shipped):
            least = {"nvidia.com/gpu": "8"}
            early = group("early", HERE, queue=HERE, pods=8, minimum=8, min_resources=least)
            volcano.create(*early)
            has(volcano, 8)
            volcano.show(example, volcano.shipped)
            ranks(volcano, 4)
            volcano.becomes("phase", lambda: phase(volcano), want)
            volcano.sessions()
            assert (phase(volcano), gpus(volcano)) == (want, 8)


def queues(text):
    """Only an example's queues."""
    return yaml.safe_dump_all([it for it in split(text)[-1] if it["kind"] == "Queue"])


def test_gang_priorities_differ(volcano):
    """A pod of a class between theirs and the group's, which kube-scheduler places, takes a GPU."""
    rule = "gang-priorities-differ"
    classes = [CLASS.format(name=name, value=n) for name, n in ((NAME, 1000), ("small", 100))]
    for example, count in ((bad(rule), 3), (good(rule), 4)):
        with volcano.scene("---".join(classes), volcano.shipped):
            volcano.fill("node-0", 8, NAME)
            volcano.fill("node-1", 4, NAME)
            volcano.show(example, volcano.shipped)
            has(volcano, 4)
            volcano.create(pod("other", OTHERS, Ask(gpus=1, priority="small")))
            waits = [] if count < 4 else ["other"]
            volcano.becomes("it waits", lambda: volcano.waiting(OTHERS), waits)
            has(volcano, count)


PREEMPTS = """
actions: "allocate, preempt"
tiers:
- plugins:
  - name: priority
  - name: gang
    enablePreemptable: false
  - name: conformance
- plugins:
  - name: predicates
"""


def _with_classes(name, of_job, of_pods):
    """A Job of Volcano that takes all GPUs of a node."""
    return vcjob(name, HERE, Ask(gpus=8, priority=of_pods), priority=of_job)


def test_no_class_of_volcano_preempts(volcano):
    """The action preempt skips pods whose class has preemptionPolicy: Never, also if their Job ranks higher."""
    classes = [CLASS.format(name=name, value=n) for name, n in (("high", 1000), ("low", 100))]
    for policy, waiting in (("Never", "first"), ("PreemptLowerPriority", "second")):
        text = "---".join(f"{it}preemptionPolicy: {policy}\n" for it in classes)
        with volcano.scene(text, PREEMPTS):
            volcano.fill("node-0", 8)
            volcano.create(_with_classes("second", "low", None))
            has(volcano, 8)
            volcano.create(_with_classes("first", "high", None))
            volcano.becomes("waits", lambda: volcano.waiting(HERE), [f"{waiting}-main-0"])
            volcano.sessions()
            assert volcano.waiting(HERE) == [f"{waiting}-main-0"]


@pytest.mark.parametrize(
    ("high", "low"),
    [
        pytest.param(("high", "low"), ("low", "high"), id="different"),
        pytest.param(("low", None), (None, "high"), id="only in the pods"),
    ],
)
def test_the_class_of_a_job_decides_its_order_and_preemption(volcano, high, low):
    """Volcano ignores the classes of the pods between Jobs. A Job without a class has priority 0."""
    classes = [CLASS.format(name=name, value=n) for name, n in (("high", 1000), ("low", 100))]
    with volcano.scene("---".join(classes), PREEMPTS):
        volcano.fill("node-0", 8)
        volcano.hold()
        volcano.create(_with_classes("second", *low))
        volcano.until("its group", lambda: "second" in str(volcano.phases(HERE)))
        volcano.create(_with_classes("first", *high))
        volcano.until("both groups", lambda: len(volcano.phases(HERE)) == 2)
        volcano.resume()
        volcano.becomes("order", lambda: volcano.waiting(HERE), ["second-main-0"])
        volcano.sessions()
        assert volcano.waiting(HERE) == ["second-main-0"]
    with volcano.scene("---".join(classes), PREEMPTS):
        volcano.fill("node-0", 8)
        volcano.create(_with_classes("second", *low))
        has(volcano, 8)
        volcano.create(_with_classes("first", *high))
        volcano.becomes("preempted", lambda: volcano.waiting(HERE), ["second-main-0"])
