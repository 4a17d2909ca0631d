"""The kind of object as which each model runs, and the kinds that it cannot use."""

import pytest

from policygen.plan.workload import forms
from policygen.plan.workload.forms import WorkloadForm
from tests.plan.model_specs import a100, models, quotas

SCHEDULE = "schedule: {cron: '0 22 * * *', timeZone: UTC, hours: 6}"


def assignment(planned, scheduler, fields):
    found = planned(
        a100(more=f"      scheduler: {scheduler}"),
        quotas("a", "pool: p, guarantee: 32"),
        models("a", m=f"resources: {{gpus: 1}}, {fields}"),
    )
    (made,) = found.plan.workloads.assignments
    return made


@pytest.mark.parametrize(
    "scheduler, fields, expected",
    [
        ("kueue", "workload: serving", ["deployment", "statefulset", "job", "jobset", "lws"]),
        ("kueue", "gang: {size: 2}", ["statefulset", "job", "jobset", "lws"]),
        ("kueue", "gang: {size: 2, runAs: lws}", ["lws", "statefulset", "job", "jobset"]),
        ("kueue", "workload: training", ["job", "jobset"]),
        ("kube-scheduler", "workload: batch", ["job", "jobset"]),
        ("volcano", "workload: batch", ["job", "vcjob", "jobset"]),
        ("volcano", "gang: {size: 2}", ["statefulset", "job"]),
        ("volcano", "workload: training, gang: {size: 2}", ["job"]),
        ("kueue", f"workload: training, {SCHEDULE}", ["cronjob", "job", "jobset"]),
        ("volcano", f"workload: batch, gang: {{size: 2}}, {SCHEDULE}", ["cronjob", "job"]),
        ("volcano", "workload: training, gang: {size: 2, runAs: vcjob}", ["vcjob"]),
        ("volcano", "workload: training, gang: {size: 2, runAs: lws}", ["lws"]),
        ("volcano", "workload: training, gang: {size: 2, runAs: job}", ["job"]),
    ],
)
def test_the_forms_of_a_model(planned, scheduler, fields, expected):
    made = assignment(planned, scheduler, fields)
    assert [str(it) for it in forms.possible(made)] == expected


def test_an_obstacle_names_pool_kind_or_field(planned):
    kueue = assignment(planned, "kueue", "workload: training, gang: {size: 2}")
    assert "scheduled by kueue" in forms.obstacle(kueue, WorkloadForm.VOLCANO_JOB)
    assert "workload is training" in forms.obstacle(kueue, WorkloadForm.LEADER_WORKER_SET)
    assert "write spec.schedule" in forms.obstacle(kueue, WorkloadForm.CRON_JOB)
    serving = assignment(planned, "kueue", "gang: {size: 2}")
    assert "workload is serving" in forms.obstacle(serving, WorkloadForm.CRON_JOB)
    assert "one by one" in forms.obstacle(serving, WorkloadForm.DEPLOYMENT)
    volcano = assignment(planned, "volcano", "gang: {size: 2, runAs: vcjob}")
    assert "runAs: vcjob" in forms.obstacle(volcano, WorkloadForm.JOB)


def test_each_gang_and_job_has_an_object(planned):
    jobs = assignment(planned, "kueue", "workload: training, replicas: 2")
    assert forms.names(jobs, WorkloadForm.JOB) == ("m-0", "m-1")
    gangs = assignment(planned, "kueue", "gang: {size: 2}, replicas: 2")
    assert forms.names(gangs, WorkloadForm.STATEFUL_SET) == ("m-0", "m-1")
    assert forms.names(gangs, WorkloadForm.LEADER_WORKER_SET) == ("m",)
    assert forms.names(gangs, WorkloadForm.JOB) == ("m",)
