"""Models with a schedule that can run in the peak hours."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from policygen.core import cron
from tests.plan.model_specs import a100, messages, models, quotas

OVERLAPS = "schedule-overlaps-peak"
HIGH = "scheduled-priority-high"
DAILY = '{timeZone: UTC, start: "09:00", end: "18:00"}'
MONDAY = '{timeZone: UTC, days: [Mon], start: "09:00", end: "18:00"}'
NIGHT = '{timeZone: UTC, days: [Sat], start: "22:00", end: "02:00"}'
BERLIN = '{timeZone: Europe/Berlin, start: "09:00", end: "18:00"}'


def platform(peak, priorities=""):
    return f"""
    apiVersion: policygen.dev/v1alpha1
    kind: Platform
    metadata: {{name: default}}
    spec: {{peakHours: {peak}, priorities: [{priorities}]}}
    """


def overlaps(planned, peak, text, hours, zone="UTC"):
    schedule = f'schedule: {{cron: "{text}", timeZone: {zone}, hours: {hours}}}'
    job = models("a", m=f"workload: batch, resources: {{gpus: 1}}, {schedule}")
    return messages(planned(platform(peak), a100(), quotas("a", "pool: p"), job), OVERLAPS)


@pytest.mark.parametrize(
    "peak, text, longest",
    [
        (DAILY, "0 22 * * *", 11),
        (DAILY, "30 22 * * *", 10),
        (DAILY, "0,59 22 * * *", 10),
        (DAILY, "0 18 * * *", 15),
        (DAILY, "0 8-9 * * *", 0),
        (DAILY, "0 17 * * *", 0),
        (DAILY, "30 8 * * *", 0),
        (MONDAY, "0 22 * * 0", 11),
        (MONDAY, "0 22 * * 1-6", 24),
        (MONDAY, "0 22 1 * *", 11),
        (MONDAY, "0 22 1 * 2", 11),
        (NIGHT, "0 21 * * 6", 1),
        (NIGHT, "0 1 * * 0", 0),
        (NIGHT, "0 2 * * 0", 24),
        (NIGHT, "30 22 * * 5", 23),
    ],
)
def test_the_longest_window_before_the_peak(planned, peak, text, longest):
    assert not longest or not overlaps(planned, peak, text, longest)
    for hours in range(longest + 1, 25):
        (message,) = overlaps(planned, peak, text, hours)
        remedy = f"write hours: {longest}" if longest else "a cron whose runs end before the peak"
        assert message.endswith(remedy)


@pytest.mark.parametrize(
    "text, zone, longest",
    [
        ("0 22 * * *", "UTC", 9),  # 07:00 UTC in summer
        ("0 22 * 1 *", "UTC", 10),
        ("0 22 * 7 *", "UTC", 9),
        ("0 22 * * *", "America/New_York", 5),  # 04:00, in some weeks 03:00
        ("0 22 * * *", "America/St_Johns", 6),
    ],
)
def test_other_time_zones(planned, text, zone, longest):
    """The same as moments of twelve years, each converted by itself."""
    times = cron.parse(text)
    moment, rooms = datetime(2026, 1, 1, 22, tzinfo=ZoneInfo(zone)), set()
    while moment.year < 2038:
        if times.on(moment.month, moment.day, moment.isoweekday() % 7):
            local = moment.astimezone(ZoneInfo("Europe/Berlin"))
            rooms.add((9 - local.hour) % 24 - bool(local.minute))
        moment += timedelta(days=1)
    assert min(rooms) == longest
    assert not overlaps(planned, BERLIN, text, longest, zone)
    (message,) = overlaps(planned, BERLIN, text, longest + 1, zone)
    assert message.endswith(f"write hours: {longest}")


def test_the_message_has_the_times_of_the_peak(planned):
    (message,) = overlaps(planned, MONDAY, "0,30 22 * * 0", 12)
    assert message == (
        'model "m" can run from Sun 22:30 to Mon 10:30 (UTC), which overlaps the peak hours from '
        "Mon 09:00 to Mon 18:00; write hours: 10"
    )


def test_the_message_has_the_times_of_one_run(planned):
    (message,) = overlaps(planned, MONDAY, "*/30 * * * *", 1)
    assert 'model "m" can run from Mon 09:00 to Mon 10:00 (UTC), which overlaps' in message


def high(planned, peak=DAILY, more="", own="night", serving="day"):
    night = 'schedule: {cron: "0 22 * * *", timeZone: UTC, hours: 1}'
    made = planned(
        platform(peak, "{name: day, value: 5}, {name: night, value: 1}, {name: low, value: -3}"),
        a100(more=more),
        quotas("a", "pool: p"),
        quotas("b", "pool: p"),
        models("a", m=f"workload: batch, resources: {{gpus: 1}}, priority: {own}, {night}"),
        models("a", chat=f"resources: {{gpus: 1}}{f', priority: {serving}' if serving else ''}"),
        models("b", other="resources: {gpus: 1}, priority: low"),
    )
    return messages(made, HIGH)


def test_priorities_in_the_queue(planned):
    assert not high(planned)
    assert not high(planned, own="low", serving=None)
    for own, serving, bound in (("day", "day", 5), ("night", None, 0), ("day", "night", 1)):
        (message,) = high(planned, own=own, serving=serving)
        assert message.endswith(f"chat cannot preempt it; give m a priority below {bound}")


@pytest.mark.parametrize(
    "more", ["      scheduler: volcano", "      schedulingPolicy: {preemptionEnabled: false}"]
)
def test_a_lower_priority_would_not_help(planned, more):
    assert not high(planned, more=more, own="day")
