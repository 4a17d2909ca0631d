"""Arguments without an effect, unknown plugin names, and plugins that vote in the wrong order."""

from collections import Counter

import pytest
import yaml

from tests.servers.pages import bad, good
from tests.servers.proofs.examples import documents
from tests.servers.proofs.volcano_scene import QUEUE
from tests.servers.workloads import GPU, Ask, pod, pod_group

HERE = "vision"


def phase(volcano, name="job"):
    return volcano.phases(HERE)[name]


def is_let_in(volcano, example, gpus, want):
    """Whether a gang of so many GPUs leaves the phase Pending, in a cluster of 16."""
    with volcano.scene(example):
        least = {GPU: str(gpus)}
        volcano.create(
            pod_group("job", HERE, queue="default", min_member=gpus, min_resources=least)
        )
        volcano.becomes("phase", lambda: phase(volcano), want)
        volcano.sessions()
        assert phase(volcano) == want


def test_volcano_argument_out_of_range(volcano):
    """A factor of 0.9 lets in a gang that 1.0 holds back: it was read as 1.2."""
    rule = "volcano-argument-out-of-range"
    is_let_in(volcano, bad(rule), 18, "Inqueue")
    is_let_in(volcano, good(rule), 18, "Pending")


def test_a_quoted_factor_is_not_read(volcano):
    """The second examples of volcano-argument-mistyped."""
    rule = "volcano-argument-mistyped"
    is_let_in(volcano, bad(rule, 1), 22, "Pending")
    is_let_in(volcano, good(rule, 1), 22, "Inqueue")


def test_sla_overrides_quota(volcano):
    """A gang that its queue has no room for is let in; the waiting time is cut short."""
    rule = "sla-overrides-quota"
    queue = QUEUE.format(name=HERE, spec={"capability": {GPU: "8"}})
    for example, want in ((bad(rule), "Inqueue"), (good(rule), "Pending")):
        short = example.replace("1h", "1ms")
        assert short != example
        with volcano.scene(f"{short}---{queue}"):
            least = {GPU: "12"}
            made = pod_group("job", HERE, queue=HERE, min_member=12, min_resources=least)
            volcano.create(made)
            volcano.becomes("phase", lambda: phase(volcano), want)
            volcano.sessions()
            assert phase(volcano) == want


def test_volcano_plugin_unknown(volcano):
    """A pod that needs its cores on one NUMA node runs although no plugin checks NUMA nodes."""
    rule = "volcano-plugin-unknown"
    policy = {"volcano.sh/numa-topology-policy": "single-numa-node"}
    ask = Ask(gpus=0, cpu="4", memory="4Gi", scheduler="volcano", annotations=policy)
    for example, waiting in ((bad(rule), []), (good(rule), ["it"])):
        with volcano.scene(example):
            volcano.create(pod("it", HERE, ask))
            volcano.becomes("waiting", lambda: volcano.waiting(HERE), waiting)
            volcano.sessions()
            assert volcano.waiting(HERE) == waiting
    assert "Failed to get plugin numaaware" in volcano.log()


def running(volcano):
    """How many pods of each job are on a node."""
    pods = [it["metadata"] for it in volcano.pods(HERE) if it["spec"].get("nodeName")]
    return Counter(it["labels"]["volcano.sh/job-name"] for it in pods)


def runs(volcano, want):
    volcano.becomes("pods on nodes", lambda: running(volcano), want)
    volcano.sessions()
    assert running(volcano) == want


@pytest.mark.parametrize(("number", "without"), [(0, 2), (1, 2)], ids=["predicates", "gang"])
def test_volcano_plugin_missing(volcano, number, without):
    """Pods start on nodes of another pool, and two pods of a gang of three start."""
    rule = "volcano-plugin-missing"
    elsewhere = "    pool: h100\nstatus", "    pool: other\nstatus"
    for example, want in ((bad(rule, number), {"train": without}), (good(rule, number), {})):
        with volcano.scene(example.replace(*elsewhere)):
            runs(volcano, want)


def test_the_plugin_that_orders_by_priority_is_missing(volcano):
    rule = "volcano-plugin-missing"
    for example, first in ((bad(rule, 2), "later"), (good(rule, 2), "urgent")):
        jobs = [it for it in documents(example) if it.get("kind") == "Job"]
        with volcano.scene():
            volcano.show(yaml.safe_dump_all(it for it in documents(example) if it not in jobs))
            volcano.hold()
            for number, job in enumerate(jobs):
                volcano.create(job)
                volcano.until("its group", lambda n=number: len(volcano.phases(HERE)) == n + 1)
            volcano.resume()
            runs(volcano, {first: 1})


def logged(volcano, example):
    """What the scheduler has logged by the time that sessions with an example have passed."""
    before = len(volcano.log())
    with volcano.scene(example):
        volcano.sessions()
        return volcano.log()[before:]


def test_volcano_argument_ignored(volcano):
    """An invalid waiting time is an error in the log, and counts as 0."""
    rule, line = "volcano-argument-ignored", "Invalid global waiting time setting: 0s in sla plugin"
    assert line in logged(volcano, bad(rule))
    assert line not in logged(volcano, good(rule))


def test_preemptable_ignored(volcano):
    """The page's Jobs: an invalid boolean is reported in the log."""
    rule, line = "preemptable-ignored", "invalid volcano.sh/preemptable=yes"
    assert line in logged(volcano, bad(rule))
    assert line not in logged(volcano, good(rule))
