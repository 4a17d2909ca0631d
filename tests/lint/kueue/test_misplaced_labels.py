"""Labels beside the misplaced queue name of a CronJob."""

from policygen.lint.kueue.misplaced_labels import are_together, beside
from tests.objects import cluster

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
