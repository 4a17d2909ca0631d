"""The jobs at a time of a simulation."""

import pytest
from msgspec.structs import replace

from policygen.kubernetes.node_groups import Stated
from policygen.simulate.instant import instant
from policygen.simulate.scene_jobs import arrivals
from policygen.simulate.scene_schedulers import timeline
from policygen.simulate.why.causes import CauseKind
from policygen.simulate.why.explainer import Explainer
from policygen.simulate.why.fit import fit
from policygen.simulate.why.fit_jobs import FitRequest
from policygen.simulate.why.scene_nodes import occupied
from policygen.simulate.why.scene_situation import situation
from tests.simulate.scenes import NODES, QUEUES, WORKLOAD, job, scene
from tests.simulate.volcano.test_over_time import QUEUES as VOLCANO_QUEUES
from tests.simulate.volcano.test_over_time import conf, vcjob

HOUR = 3600.0


def at(text, time, duration=HOUR):
    made = scene(text)
    return instant(made, arrivals(made, duration), time)


def test_jobs_run_wait_arrive_later_or_have_ended():
    """The quota is 12. The first job ends after an hour; the second then runs for 25 of 60 minutes."""
    text = (
        QUEUES
        + NODES
        + job("a", 8, annotations="policygen.dev/runs-for: 1h")
        + job("b", 8)
        + job("c", 8)
        + job("d", 1, annotations="policygen.dev/arrives-after: 3h")
    )
    found = at(text, 85 * 60.0 + 1)
    assert (found.running, found.later, found.ended) == (1, {"nlp/d": 3 * HOUR}, {"nlp/a": HOUR})
    runs, waits = found.arrivals
    assert (runs.name, len(runs.nodes)) == ("nlp/b", 1)
    assert (runs.duration, runs.left) == (HOUR, 35 * 60)
    assert runs.workload.admission is not None
    assert (waits.name, waits.nodes, waits.duration) == ("nlp/c", (), HOUR)
    assert waits.workload.admission is None
    assert waits.at == -(85 * 60 + 1)


def test_an_explanation_at_a_time_is_that_of_the_simulation():
    text = QUEUES + NODES + job("a", 8) + job("b", 8)
    found = at(text, HOUR / 2)
    explainer = Explainer(found.scene, found.arrivals)
    causes = {it.name: explainer.explain(it).cause for it in found.arrivals}
    assert causes["nlp/a"].kind is CauseKind.ADMITTED
    assert causes["nlp/b"].kind is CauseKind.NO_FREE_QUOTA
    assert causes["nlp/b"].obstacles[0].holders[0].workloads == ("nlp/a",)


def test_pods_without_a_node_stay_without_one():
    """Three pods of 5 GPUs need three nodes, and there are two."""
    text = QUEUES.replace("nominalQuota: 12", "nominalQuota: 16") + NODES
    (waits,) = at(text + job("a", 5, 3), 60).arrivals
    assert waits.workload.admission is not None
    assert sorted(waits.nodes) == ["n0", "n1"]


READY = """
---
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
waitForPodsReady: {timeout: 5m}
"""


def test_an_evicted_workload_keeps_its_place_in_the_queue():
    """The pod of a fits no node, so Kueue evicts a after 5 minutes and puts it behind b."""
    strict = "namespaceSelector: {}\n  queueingStrategy: StrictFIFO"
    text = QUEUES.replace("namespaceSelector: {}", strict, 1) + NODES + READY
    later = "policygen.dev/arrives-after: 1m"
    found = at(text + job("a", 9) + job("b", 13, annotations=later), 600)
    a, _ = found.arrivals
    cause = Explainer(found.scene, found.arrivals).explain(a, search=False).cause
    assert (cause.kind, cause.names) == (CauseKind.QUEUE_HEAD, ("nlp/b",))


def test_an_evicted_workload_waits_until_kueue_queues_it_again():
    """No node is free for a, so Kueue evicts it after 5 minutes for a minute. b ends in this minute."""
    text = QUEUES.replace("nominalQuota: 12", "nominalQuota: 24") + NODES + READY
    ends = "policygen.dev/runs-for: 310s"
    found = at(text + job("b", 8, annotations=ends) + job("c", 8) + job("a", 8), 330)
    a = found.arrivals[-1]
    cause = Explainer(found.scene, found.arrivals).explain(a, search=False).cause
    assert (cause.kind, cause.message) == (CauseKind.BACKOFF, "30s later")
    assert not fit(found.scene, found.arrivals, FitRequest("nlp", 8)).explanation.waits


def test_what_kueue_tries_a_moment_later_has_happened():
    """Kueue tries b again one second after the end of a."""
    ends = "policygen.dev/runs-for: 1h"
    found = at(QUEUES + job("a", 8, annotations=ends) + job("b", 8), HOUR)
    (b,) = found.arrivals
    assert (found.running, b.name) == (1, "nlp/b")


def test_without_a_time_all_jobs_are_submitted_and_no_wait_is_over():
    """The pod of a fits no node. Kueue would evict a after 5 minutes; b ends after an hour."""
    later = "policygen.dev/arrives-after: 3h, policygen.dev/runs-for: 1h"
    text = QUEUES.replace("nominalQuota: 12", "nominalQuota: 16") + NODES + READY
    found = at(text + job("a", 9) + job("b", 5) + job("c", 2, annotations=later), None)
    a, b, c = found.arrivals
    assert (found.running, found.later, found.ended) == (2, {}, {})
    assert (a.workload.admission is not None, a.nodes) == (True, ())
    assert (b.at, b.duration, len(b.nodes)) == (0.0, HOUR, 1)
    assert (c.at, c.duration) == (0.0, HOUR)
    again = instant(found.scene, found.arrivals, None)
    assert [it.nodes for it in again.arrivals] == [it.nodes for it in found.arrivals]


PREEMPTING = (
    QUEUES.replace(
        "namespaceSelector: {}",
        "namespaceSelector: {}\n  preemption: {withinClusterQueue: LowerPriority}",
        1,
    )
    + """
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: WorkloadPriorityClass
metadata: {name: high}
value: 9
description: d
"""
)


def test_without_a_time_the_last_one_that_was_admitted_leaves_first():
    """Both are in their order at the start, too. The quota is 12."""
    text = PREEMPTING
    first, second = (f"policygen.dev/arrives-after: {it}m" for it in (1, 2))
    text += job("b", 6, annotations=first) + job("a", 6, annotations=second)
    text += (
        job("c", 6)
        .replace("queue-name: main", "queue-name: main, kueue.x-k8s.io/priority-class: high")
        .replace("annotations: {}", "annotations: {policygen.dev/arrives-after: 3m}")
    )
    found = at(text, None)
    assert {it.name: bool(it.workload.admission) for it in found.arrivals} == {
        "nlp/a": False,
        "nlp/b": True,
        "nlp/c": True,
    }
    assert [it.by for it in found.preemptions["nlp/a"]] == ["nlp/c"]
    causes = Explainer(found.scene, found.arrivals)
    assert causes.explain(found.arrivals[1], search=False).waits
    made = scene(text)
    settled = situation(made, arrivals(made)).settle()
    assert [it.victim for it in settled.evictions] == [found.arrivals[1].workload.name]


JOB_SET = """
---
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: a, namespace: nlp, labels: {kueue.x-k8s.io/queue-name: main}}
spec:
  replicatedJobs:
  - name: head
    template:
      spec:
        template:
          spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}
  - name: worker
    template:
      spec:
        parallelism: 2
        completions: 2
        template:
          spec: {containers: [{name: c, resources: {limits: {nvidia.com/gpu: 6}}}]}
"""


def test_pods_that_need_no_known_node_do_not_shift_the_nodes_of_others():
    """A spec has no nodes for the head. Each worker uses 6 of 8 GPUs of a node."""
    made = scene(QUEUES + NODES + JOB_SET)
    made = replace(made, nodes=tuple(replace(it, stated=Stated.PART) for it in made.nodes))
    found = instant(made, arrivals(made, HOUR), 60)
    (runs,) = found.arrivals
    assert (runs.nodes[0], sorted(runs.nodes[1:])) == ("", ["n0", "n1"])
    nodes = occupied(found.scene, found.arrivals)
    assert len(nodes.bound["nlp/a"]) == 2
    again = instant(found.scene, found.arrivals, 60)
    assert again.arrivals[0].nodes == runs.nodes


def test_a_job_that_is_preempted_later_begins_again():
    """b has run for 30 of 60 minutes when a new job evicts it, so it ends an hour after that job."""
    text = PREEMPTING + job("b", 8)
    found = at(text, HOUR / 2)
    new = job("c", 8).replace(
        "queue-name: main", "queue-name: main, kueue.x-k8s.io/priority-class: high"
    )
    (more,) = arrivals(scene(PREEMPTING + new), HOUR)
    made = timeline(found.scene, [*found.arrivals, more])
    for _ in made.run():
        pass
    assert [it.ended for it in made.jobs] == [2 * HOUR + 1, HOUR]


def test_a_job_with_fewer_pods_has_the_rest_of_its_longer_time():
    fewer = "kueue.x-k8s.io/job-min-parallelism: '1'"
    found = at(QUEUES + NODES + job("a", 2, pods=8, annotations=fewer), HOUR / 2)
    (runs,) = found.arrivals
    assert (runs.pods[0].count, runs.left) == (6, 1.5 * HOUR)


def test_pods_of_volcano_that_have_ended_do_not_begin_again():
    """Of 20 pods, 16 run at once; the others begin when these end."""
    text = NODES + VOLCANO_QUEUES + conf("enqueue, allocate")
    found = at(text + vcjob("a", "a", 20, more="minAvailable: 16"), 1.5 * HOUR)
    (runs,) = found.arrivals
    assert (runs.pods[0].count, runs.left, len(runs.nodes)) == (4, HOUR / 2, 4)
    assert runs.gang.least == 0


def test_reports_about_workloads_are_older_than_the_instant():
    found = at(QUEUES + job("a", 8) + WORKLOAD, 2 * HOUR)
    assert found.ended == {"nlp/a": HOUR}
    assert all("status" not in it.object.data for it in found.scene.cluster.kueue_workloads)


@pytest.mark.parametrize(("gpus", "kind"), [(8, CauseKind.ADMITTED), (9, CauseKind.NO_NODES)])
def test_jobs_of_volcano_have_the_cause_of_the_session(gpus, kind):
    text = job("a", gpus, queue="").replace(
        "restartPolicy", "schedulerName: volcano\n      restartPolicy"
    )
    found = at(NODES + text, 60)
    assert found.gangs["nlp/a"].kind is kind
