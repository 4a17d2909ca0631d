"""Models with a schedule that can run in the peak hours."""

from bisect import bisect_right
from datetime import UTC, date, datetime, time, timedelta
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


@pytest.mark.parametrize(
    "text, zone, longest",
    [
        ("0 22 * * *", "Europe/Berlin", 10),  # the 29th of March 2026 has 23 hours
        ("0 22 * 7 *", "Europe/Berlin", 11),  # no clock changes in July
        ("30 2 * * *", "Europe/Berlin", 6),  # this time does not exist when clocks go forward
        ("30 1 * * *", "Europe/Berlin", 6),
        ("0 22 * * 1", "Europe/Berlin", 11),  # clocks change on Sundays
        ("0 23 * * *", "Europe/London", 8),  # 00:00 in Berlin
    ],
)
def test_clocks_that_go_forward_in_a_run_take_an_hour_of_its_room(planned, text, zone, longest):
    """A window is an amount of time that elapses, so on this day it ends an hour later on the clock."""
    assert not overlaps(planned, BERLIN, text, longest, zone)
    (message,) = overlaps(planned, BERLIN, text, longest + 1, zone)
    assert message.endswith(f"write hours: {longest}")


ODD = [
    ("0 22 * * *", "Europe/Berlin", "Europe/Berlin", "08:00", "19:00", ""),
    ("15 23 * * 6", "America/St_Johns", "America/St_Johns", "07:30", "22:00", "Sun"),
    ("0 20 * * *", "Australia/Lord_Howe", "Australia/Lord_Howe", "06:30", "18:00", ""),
    ("0,45 1 * * *", "Pacific/Chatham", "Pacific/Chatham", "09:30", "05:00", "Sat, Sun"),
    ("30 21 * * 5", "Asia/Kathmandu", "Europe/London", "08:00", "20:00", "Mon"),
    ("0 0 1 * *", "America/New_York", "Africa/Casablanca", "14:00", "02:00", ""),
    ("0 2 * 3 *", "Europe/Berlin", "America/New_York", "06:00", "18:00", "Sun"),
    ("30 2 * * 0", "America/New_York", "America/New_York", "10:00", "09:00", "Sun, Mon"),
    ("0 23 * 3,9 0,6", "Pacific/Auckland", "Antarctica/Troll", "12:00", "23:30", "Sun, Sat"),
    ("0 19 * * 0", "UTC", "Pacific/Apia", "18:00", "03:00", "Mon, Tue"),
    ("10 3 29 2 *", "Europe/Moscow", "Asia/Tehran", "12:00", "20:00", ""),
]


@pytest.mark.parametrize("text, zone, of_peak, start, end, days", ODD)
def test_odd_windows(planned, text, zone, of_peak, start, end, days):
    """The same as all runs of twelve years before each peak of them, as moments."""
    here, there = ZoneInfo(zone), ZoneInfo(of_peak)
    first, last = time.fromisoformat(start), time.fromisoformat(end)
    times, dates = cron.parse(text), [date(2025, 12, 25) + timedelta(it) for it in range(4400)]

    def moments(it, clock, zone):
        return datetime.combine(it, clock, zone).astimezone(UTC)

    peaks = [
        (moments(it, first, there), moments(it + timedelta(last <= first), last, there))
        for it in dates
        if not days or f"{it:%a}" in days
    ]
    runs = []
    for it in dates[7:-17]:
        if times.on(it.month, it.day, it.isoweekday() % 7):
            for clock in (time(h, m) for h in times.hours for m in times.minutes):
                run = moments(it, clock, here)
                if run.astimezone(here).time() == clock:  # else the clocks skip it
                    runs.append(run)
    ends = [it for _, it in peaks]
    room = min(max(peaks[bisect_right(ends, it)][0] - it, timedelta()) for it in runs)
    longest = min(room // timedelta(hours=1), 24)
    listed = f", days: [{days}]" if days else ""
    peak = f'{{timeZone: {of_peak}{listed}, start: "{start}", end: "{end}"}}'
    assert not longest or not overlaps(planned, peak, text, longest, zone)
    if longest < 24:
        (message,) = overlaps(planned, peak, text, longest + 1, zone)
        remedy = f"write hours: {longest}" if longest else "a cron whose runs end before the peak"
        assert message.endswith(remedy)


def test_the_message_names_the_date_on_which_clocks_change(planned):
    (message,) = overlaps(planned, BERLIN, "0 22 * * *", 11, "Europe/Berlin")
    assert message == (
        'model "m" can run from Sat 22:00 to Sun 10:00 (Europe/Berlin), which overlaps the peak hours from Sun 09:00 to '
        "Sun 18:00, because clocks change during the run of 2026-03-28; write hours: 10"
    )


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
