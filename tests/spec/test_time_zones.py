"""Time zones that the database of the machine does not have."""

import pytest

from policygen.lint.core.rules import time_zone_unknown
from tests.examples_of_rules import examples
from tests.objects import facts
from tests.plan.model_specs import a100, messages, models, quotas

RULE = "time-zone-unknown"


def reported(planned, zone, peak=""):
    schedule = f'schedule: {{cron: "0 22 * * *", timeZone: {zone}, hours: 1}}'
    job = models("a", m=f"workload: batch, resources: {{gpus: 1}}, {schedule}")
    platform = f"""
    apiVersion: policygen.dev/v1alpha1
    kind: Platform
    metadata: {{name: default}}
    spec: {{{peak}}}
    """
    done = planned(platform, a100(), quotas("a", "pool: p"), job)
    assert not messages(done, "schedule-overlaps-peak")
    return messages(done, RULE)


@pytest.mark.parametrize("peak", ["", 'peakHours: {timeZone: UTC, start: "09:00", end: "18:00"}'])
def test_a_misspelled_time_zone_is_named(planned, peak):
    assert reported(planned, "Europe/Berlin", peak) == []
    (message,) = reported(planned, "Europe/Berln", peak)
    assert message == (
        'the schedule of model "m" has time zone "Europe/Berln", which this machine does not know; '
        'did you mean "Europe/Berlin"?'
    )


@pytest.mark.parametrize(
    "zone", ["CET", "EST5EDT", "GB-Eire", "Etc/GMT+1", "America/Port-au-Prince"]
)
def test_other_names_of_the_database_are_known(planned, zone):
    """An API server of Kubernetes 1.36.3 accepts each in a CronJob."""
    assert reported(planned, zone) == []


@pytest.mark.parametrize("zone", ["Europe/Nowhere", "America/Argentina"])
def test_the_peak_hours_have_a_name_that_is_no_time_zone(planned, zone):
    (message,) = reported(
        planned, "UTC", f'peakHours: {{timeZone: {zone}, start: "09:00", end: "18:00"}}'
    )
    assert f'peakHours has time zone "{zone}", which' in message


@pytest.mark.parametrize(("zone", "count"), [("Europe/Berln", 1), ("Europe/Atlantis", 0)])
def test_the_zone_of_a_cron_job_is_reported_only_if_it_resembles_one(zone, count):
    """The API server can have a newer database than this machine."""
    text = examples(RULE, good=True)[0].text.replace("Europe/Berlin", zone)
    assert len([*time_zone_unknown.check(facts(text))]) == count
