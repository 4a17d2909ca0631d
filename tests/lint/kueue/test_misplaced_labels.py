"""Labels beside the misplaced queue name of a CronJob."""

import pytest

from policygen.core.names import LOCAL_QUEUE
from policygen.lint.kueue.misplaced_labels import are_together, beside
from policygen.lint.kueue.rules import kueue_key_misplaced, queue_name_misplaced
from tests.objects import cluster, facts

CRON = """
apiVersion: batch/v1
kind: CronJob
metadata:
  name: nightly
  namespace: vision
  labels: {kueue.x-k8s.io/queue-name: a100, kueue.x-k8s.io/priority-class: batch, app: x, kueue.x-k8s.io/odd: x}
spec: {jobTemplate: {metadata: {labels: {%s}}, spec: {template: {spec: {containers: [{name: c}]}}}}}
"""
PRIORITY = "kueue.x-k8s.io/priority-class"


def test_the_labels_of_jobs_move_together():
    [job] = cluster(CRON % "").workloads
    labels = job.at.to("metadata", "labels")
    assert beside(job, labels / "kueue.x-k8s.io/queue-name") == {PRIORITY: "batch"}
    assert are_together(job, PRIORITY, labels)
    assert not are_together(job, "kueue.x-k8s.io/odd", labels)
    assert beside(job, job.at.to("metadata", "annotations", "kueue.x-k8s.io/queue-name")) == {}


def test_a_label_beside_a_queue_name_that_the_jobs_have_too_is_alone():
    [job] = cluster(CRON % "kueue.x-k8s.io/queue-name: a100").workloads
    assert not are_together(job, PRIORITY, job.at.to("metadata", "labels"))


@pytest.mark.parametrize(
    ("labels", "wanted"),
    [
        (f"{LOCAL_QUEUE}: a100, {PRIORITY}: batch", {}),
        (
            f"{LOCAL_QUEUE}: b, {PRIORITY}: high",
            {
                "queue-name-misplaced": "remove the label, or move its value there",
                "kueue-key-misplaced": "remove it, because Kueue reads it in spec.jobTemplate.metadata.labels",
            },
        ),
        (
            f"{LOCAL_QUEUE}: a100",
            {"kueue-key-misplaced": "move it to spec.jobTemplate.metadata.labels"},
        ),
    ],
)
def test_only_equal_copies_of_the_labels_of_jobs_are_not_reported(labels, wanted):
    seen = facts(CRON % labels)
    rules = [queue_name_misplaced, kueue_key_misplaced]
    found = [it for rule in rules for it in rule.check(seen)]
    assert {it.rule.name: it.message.rpartition("; ")[2] for it in found} == wanted
