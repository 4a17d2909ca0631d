"""Schedules have the times that github.com/robfig/cron/v3 gives them."""

import pytest

from policygen.core import cron


def test_names_lists_steps_and_open_ranges():
    found = cron.parse("5/20 22,23 ? jan-mar mon-fri")
    assert found == cron.CronSchedule(
        minutes=frozenset({5, 25, 45}),
        hours=frozenset({22, 23}),
        days=frozenset(range(1, 32)),
        months=frozenset({1, 2, 3}),
        weekdays=frozenset(range(1, 6)),
        both_days=True,
    )


@pytest.mark.parametrize(
    "text, month, day, weekday, expected",
    [
        ("0 0 13 * 5", 3, 13, 1, True),  # one of day and weekday is enough
        ("0 0 13 * 5", 3, 12, 5, True),
        ("0 0 13 * 5", 3, 12, 1, False),
        ("0 0 * * 5", 3, 13, 1, False),  # `*` matches every day, so the weekday decides
        ("0 0 */2 * 5", 3, 13, 1, True),  # a step is no star
        ("@weekly", 3, 13, 0, True),
        ("@yearly", 3, 1, 0, False),
    ],
)
def test_the_dates_of_a_schedule(text, month, day, weekday, expected):
    found = cron.parse(text)
    assert found
    assert found.on(month, day, weekday) is expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0 22 * *",
        "60 * * * *",
        "* * * * 7",
        "5-1 * * * *",
        "@noon",
        "@every 1x",
        f"{'9' * 5000} * * * *",
    ],
)
def test_what_is_no_schedule(text):
    assert cron.parse(text) is None
    assert not cron.is_schedule(text)


@pytest.mark.parametrize("interval", ["1h", "1h30m", ".5h", "+1h", "1\u00b5s"])
def test_an_interval_is_a_schedule_without_times(interval):
    assert cron.is_schedule(f"@every {interval}")
    assert cron.parse(f"@every {interval}") is None


@pytest.mark.parametrize(
    ("text", "ever"),
    [
        ("0 0 29 2 *", True),
        ("0 0 30 2 *", False),
        ("0 0 31 2,4,6,9,11 *", False),
        ("0 0 31 2-5 *", True),
        ("0 0 30 2 1", True),  # on Mondays of February
        ("* * * * *", True),
        (", 0 * * *", False),
    ],
)
def test_some_schedules_never_run(text, ever):
    assert cron.parse(text).ever_runs == ever


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("30 24 * * *", 'its hour is "24"; write numbers from 0 to 23'),
        ("0 0 * * 7", 'its day of the week is "7"; write numbers from 0 to 6'),
        ("0 0 0,1 * *", 'its day is "0,1"; write numbers from 1 to 31'),
        ("0 0 * *", ""),
        ("0 0 * * *", ""),
    ],
)
def test_the_invalid_field_is_named(text, fault):
    assert cron.field_fault(text) == fault
