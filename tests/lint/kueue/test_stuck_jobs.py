"""Jobs that never start beside the others."""

import re

import pytest

from policygen.core.finding import Verdict
from policygen.lint import engine
from policygen.lint.kueue import simulated
from policygen.lint.kueue import stuck_jobs as module
from policygen.lint.kueue.rules import own_quota_not_reclaimed, strict_fifo_blocks_forever
from policygen.lint.kueue.stuck_jobs import stuck_jobs
from policygen.lint.page import page
from policygen.lint.rule import NotEvaluatedError
from tests.objects import facts

OWN = page("own-quota-not-reclaimed").bad.text
FIFO = page("strict-fifo-blocks-forever").bad.text
PLAIN = """---
apiVersion: batch/v1
kind: Job
metadata: {name: plain, namespace: web}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: "a:1"}]}}}
"""
LOW = """---
apiVersion: kueue.x-k8s.io/v1beta2
kind: WorkloadPriorityClass
metadata: {name: low}
value: -1
"""


def names(text):
    return {it.entry.name: [str(job.owner) for job in it.jobs] for it in stuck_jobs(facts(text))}


def test_jobs_are_listed_by_queue_in_their_order():
    assert names(OWN) == {"vision.a100": ["Job vision/train"]}
    assert names(FIFO) == {"vision.a100": ["Job vision/large", "Job vision/small"]}


def test_jobs_of_two_kinds_with_one_name():
    other = """---
apiVersion: apps/v1
kind: Deployment
metadata: {name: train, namespace: vision}
spec:
  selector: {matchLabels: {app: t}}
  template: {metadata: {labels: {app: t}}, spec: {containers: [{name: c}]}}
"""
    assert names(f"{OWN}\n{other}") == {"vision.a100": ["Job vision/train"]}


def test_jobs_without_a_label_can_have_the_queue_default():
    text = OWN.replace("  labels:\n    kueue.x-k8s.io/queue-name: a100\n", "")
    text = text.replace(
        "metadata:\n  name: a100\n  namespace", "metadata:\n  name: default\n  namespace"
    )
    assert names(text) == names(OWN)


def test_a_job_that_never_starts_alone_is_no_stuck_job():
    assert names(OWN.replace("nvidia.com/gpu: 4\n", "nvidia.com/gpu: 9\n")) == {}


def test_borrowers_of_a_lower_priority_are_evicted():
    label = "kueue.x-k8s.io/queue-name: a100"
    low = f"{label}\n    kueue.x-k8s.io/priority-class: low"
    assert names(OWN.replace(label, low, 1) + LOW) == {}


def test_jobs_end_so_that_others_start():
    """Without the Deployment, each job only waits for the one before it."""
    before, _, after = FIFO.partition("apiVersion: apps/v1")
    assert names(before + after[after.index("apiVersion: batch/v1") :]) == {}


def test_a_request_above_the_own_quota_has_no_right_to_it():
    text = OWN.replace("nvidia.com/gpu: 4\n", "nvidia.com/gpu: 5\n")
    assert names(text) == {"vision.a100": ["Job vision/train"]}
    assert list(own_quota_not_reclaimed.check(facts(text))) == []


def test_the_two_rules_do_not_report_the_same_queue():
    """The first job is within the own quota of its queue."""
    small = OWN[OWN.index("apiVersion: batch/v1") :].replace("name: train", "name: small")
    text = OWN.replace("  preemption:\n", "  queueingStrategy: StrictFIFO\n  preemption:\n", 1)
    found = facts(f"{text}\n---\n{small}".replace("replicas: 8", "replicas: 7"))
    rules = (own_quota_not_reclaimed.RULE, strict_fifo_blocks_forever.RULE)
    hits = [hit.rule.name for outcome in engine.run(rules, found) for hit in outcome.hits]
    assert hits == ["own-quota-not-reclaimed"]


def test_inputs_that_cannot_block_are_not_simulated(monkeypatch):
    monkeypatch.setattr(simulated, "_MOST_JOBS", 0)
    text = OWN.replace("reclaimWithinCohort: LowerPriority", "reclaimWithinCohort: Any")
    assert stuck_jobs(facts(text)) == ()
    assert stuck_jobs(facts(OWN.partition("---\napiVersion: apps/v1")[0])) == ()


def test_jobs_that_name_no_queue_are_not_simulated(monkeypatch):
    monkeypatch.setattr(simulated, "_MOST_JOBS", 9)
    assert names(OWN + PLAIN) == names(OWN) != {}


def test_each_pod_of_a_serving_workload_counts_as_a_job(monkeypatch):
    """Kueue makes a Workload for each of them, so one object can be a million jobs."""
    monkeypatch.setattr(simulated, "_MOST_JOBS", 1_000_000)
    text = re.sub(r"replicas: \d+", "replicas: 1000001", OWN)
    assert text != OWN
    with pytest.raises(NotEvaluatedError, match="at most 1000000 jobs"):
        stuck_jobs(facts(text))


@pytest.mark.parametrize(
    ("where", "bound", "value", "reason"),
    [
        (
            simulated,
            "_MOST_JOBS",
            1,
            "lint simulates at most 1 jobs of Kueue, and the input has 9",
        ),
        (
            module,
            "_MOST_EVENTS",
            1,
            "lint simulates at most 1 events, and the jobs of the input need more",
        ),
    ],
)
def test_a_large_input_is_not_simulated(monkeypatch, where, bound, value, reason):
    monkeypatch.setattr(where, bound, value)
    (outcome,) = engine.run([own_quota_not_reclaimed.RULE], facts(OWN))
    assert (outcome.verdict, outcome.reason) == (Verdict.NOT_EVALUATED, reason)
