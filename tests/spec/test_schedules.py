"""A schedule that no CronJob can have is refused, with the field to change."""

import pytest

from tests.plan.model_specs import a100, models, quotas

SCHEDULE = "schedule: {cron: '0 22 * * *', timeZone: Europe/Berlin, hours: 6}"


def faults(planned, fields, name="m"):
    texts = (
        a100(),
        quotas("a", "pool: p"),
        models("a", **{name: f"resources: {{gpus: 1}}, {fields}"}),
    )
    return [it.message for it in planned(*texts).findings if it.rule.name == "invalid-value"]


@pytest.mark.parametrize(
    "fields, remedy",
    [
        (SCHEDULE, "write workload: batch or training, or remove the schedule"),
        (f"workload: batch, {SCHEDULE}".replace("0 22", "0 25"), 'such as "0 22 * * 1-5"'),
        (
            f"workload: batch, {SCHEDULE}".replace("22 * *", "0 30 2"),
            "such a day; write another day or month",
        ),
        (f"workload: batch, {SCHEDULE}".replace("0 22 * * *", "@every 1h"), '"0 22 * * 1-5"'),
        (f"workload: batch, gang: {{size: 2, runAs: vcjob}}, {SCHEDULE}", "write runAs: job"),
    ],
)
def test_impossible_schedules(planned, fields, remedy):
    (message,) = faults(planned, fields)
    assert message.endswith(remedy)


def test_the_name_of_a_cron_job_is_short(planned):
    fields = f"workload: batch, {SCHEDULE}"
    assert not faults(planned, fields, name="m" * 52)
    (message,) = faults(planned, f"{fields}, replicas: 2", name="m" * 51)
    assert "at most 52 characters" in message


def test_each_run_of_a_gang_has_its_own_pod_group(planned):
    """Volcano creates it for each Job, so policygen renders none."""
    pool = a100(more="      scheduler: volcano")
    fields = f"workload: training, resources: {{gpus: 1}}, gang: {{size: 2}}, {SCHEDULE}"
    done = planned(
        pool, quotas("a", "pool: p, guarantee: 8"), models("a", m=fields), extras={"workloads"}
    )
    assert not done.of("PodGroup")
    (it,) = done.of("CronJob").values()
    group = {"scheduling.volcano.sh/group-min-member": "2"}
    assert it.cron.metadata == {"annotations": group}
    assert it.gang


def test_peak_hours_have_a_length(planned):
    text = """
    apiVersion: policygen.dev/v1alpha1
    kind: Platform
    metadata: {name: default}
    spec: {peakHours: {timeZone: UTC, start: "09:00", end: "09:00"}}
    """
    (found,) = (it for it in planned(text).findings if it.rule.name == "invalid-value")
    assert found.message.endswith("write another end")
