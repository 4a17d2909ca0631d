"""Workloads as webhooks receive them."""

from policygen.lint.core.webhook_objects import batch_jobs, webhook_object
from tests.objects import cluster, workload

JOB = "{apiVersion: batch/v1, kind: Job, metadata: {name: j, labels: {a: b}}, spec: {%s}}"
CRON_JOB = (
    "{apiVersion: batch/v1, kind: CronJob, metadata: {name: c, labels: {a: c}}, "
    "spec: {jobTemplate: {metadata: {labels: {a: b}}, spec: {parallelism: 3, template: {}}}}}"
)


def test_a_cron_job_is_its_job():
    job = webhook_object(workload(CRON_JOB))
    assert (job.kind, dict(job.labels), job.count) == ("Job", {"a": "b"}, 3)
    assert job.at.path == ("spec", "jobTemplate")


def test_numbers_of_pods():
    counts = {
        "": 1,
        "parallelism: 4": 4,
        "parallelism: 4, completions: 2": 2,
        'parallelism: "4"': None,
    }
    for spec, count in counts.items():
        assert webhook_object(workload(JOB % spec)).count == count


def test_managed_by_is_a_text():
    assert webhook_object(workload(JOB % "managedBy: a/b")).managed_by == "a/b"
    assert webhook_object(workload(JOB % "managedBy: 3")).managed_by is None


def test_jobs_of_kubernetes():
    volcano = (JOB % "").replace("batch/v1", "batch.volcano.sh/v1alpha1")
    found = batch_jobs(cluster("\n---\n".join((JOB % "", CRON_JOB, volcano))))
    assert [str(job.workload) for job in found] == ["Job j", "CronJob c"]
