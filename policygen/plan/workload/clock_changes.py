"""Runs near a change of clocks: if clocks go forward during a run, it ends an hour later on the clock.

A window is a number of hours that elapse, and the peak begins at a time of the clock.
"""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from functools import cache

from msgspec import Struct

from policygen.core import cron
from policygen.spec.schedules import DAYS
from policygen.spec.types import ModelSchedule, PeakHours

FIRST, LAST = date(2026, 1, 1), date(2037, 12, 31)
"""The dates on which time zones are compared. They are fixed, so that results are always the same."""
_BEFORE, _AFTER = 2, 1
"""The days before and after a change on which runs begin whose time to the peak it shortens: a window has at most
24 hours."""
_TO_PEAK = 3
"""The days after the start of a run on which a peak can begin within its window, in any time zone."""


class ChangedRun(Struct, frozen=True, order=True):
    """A run and the peak that follows it."""

    room: int
    """Minutes that elapse from its start to the peak; 0: it begins in the peak."""
    start: datetime
    """In the time zone of the peak, as the others."""
    begins: datetime
    """The start of the peak."""
    ends: datetime
    """The end of the peak."""

    def after(self, hours: int) -> datetime:
        """The time on the clock at which a run of this length ends."""
        return (self.start.astimezone(UTC) + timedelta(hours=hours)).astimezone(self.start.tzinfo)


def shortest(schedule: ModelSchedule, peak: PeakHours) -> ChangedRun | None:
    """The run near a change of clocks that has the least time to the peak.

    None if the clocks never change on a date of the schedule, or if this machine has no time zone database.
    """
    times = cron.parse(schedule.cron)
    if times is None:
        return None
    try:
        return min(_runs(times, schedule.time_zone, peak), default=None)
    except (OSError, ValueError, LookupError):  # a folder, or a file that is not a time zone
        return None


def _runs(times: cron.CronSchedule, zone: str, peak: PeakHours) -> Iterator[ChangedRun]:
    from zoneinfo import ZoneInfo  # noqa: PLC0415 - few specs have a schedule

    here, there = ZoneInfo(zone), ZoneInfo(peak.time_zone)
    extremes = sorted({min(times.minutes), max(times.minutes)}) if times.minutes else []
    for change in sorted({*_changes(zone), *_changes(peak.time_zone)}):
        for offset in range(-_BEFORE, _AFTER + 1):
            day = change + timedelta(days=offset)
            if not times.on(day.month, day.day, day.isoweekday() % 7):
                continue
            for hour in times.hours:
                for minute in extremes:
                    wall = datetime.combine(day, time(hour, minute), here)
                    start = wall.astimezone(UTC)
                    # A time that the clocks skip has no run: robfig/cron/v3, "leap-ahead transitions".
                    if start.astimezone(here).replace(tzinfo=None) == wall.replace(tzinfo=None):
                        yield from _to_peak(start.astimezone(there), peak)


def _to_peak(start: datetime, peak: PeakHours) -> Iterator[ChangedRun]:
    """The run that begins at this time of the time zone of the peak, if a peak follows soon."""
    first, last = time.fromisoformat(peak.start), time.fromisoformat(peak.end)
    for offset in range(-1, _TO_PEAK):
        day = start.date() + timedelta(days=offset)
        if DAYS[day.isoweekday() % 7] not in peak.days:
            continue
        begins = datetime.combine(day, first, start.tzinfo)
        ends = datetime.combine(day + timedelta(days=last <= first), last, start.tzinfo)
        elapsed = begins.astimezone(UTC) - start.astimezone(UTC)
        if ends.astimezone(UTC) > start.astimezone(UTC):
            yield ChangedRun(max(int(elapsed.total_seconds()) // 60, 0), start, begins, ends)
            return


@cache
def _changes(zone: str) -> tuple[date, ...]:
    """The dates on which the clocks of a zone differ from those of the day before."""
    from zoneinfo import ZoneInfo  # noqa: PLC0415 - few specs have a schedule

    info = ZoneInfo(zone)
    days = [FIRST + timedelta(days=index) for index in range((LAST - FIRST).days + 1)]
    noons = [datetime.combine(it, time(12), info).utcoffset() for it in days]
    return tuple(
        day for day, was, now in zip(days[1:], noons, noons[1:], strict=False) if was != now
    )
