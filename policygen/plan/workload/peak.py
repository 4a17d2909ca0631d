"""Findings about models with a schedule that can run in the peak hours of the platform.

All times are minutes of a week in the time zone of the peak hours, from Sunday 00:00. One week is
enough: a date of a schedule is on every day of the week in some year.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, time, timedelta
from functools import cache

from msgspec import Struct

from policygen.core import cron
from policygen.core.finding import Hit
from policygen.core.quoting import quoted
from policygen.plan.assignment import Assignment
from policygen.plan.rules import SCHEDULE_OVERLAPS_PEAK, SCHEDULED_PRIORITY_HIGH
from policygen.plan.workload import clock_changes
from policygen.spec import time_zones
from policygen.spec.schedules import DAYS
from policygen.spec.types import Model, ModelSchedule, PeakHours, Spec

_HOUR = 60
_DAY = 24 * _HOUR
_WEEK = 7 * _DAY
_MOST_CHANGE = 2 * _HOUR
"""The most minutes by which clocks go forward, in Antarctica/Troll."""

_Dates = frozenset[tuple[int, int]]
"""Months and days."""


class _Runs(Struct, frozen=True, order=True):
    """Runs that begin within one hour, and the peak that follows them or in which they begin."""

    room: int
    """Minutes from the last of them to the peak; 0 or less: one of them begins in the peak."""
    first: int
    last: int
    peak: tuple[int, int]


def reports(spec: Spec, assignments: Sequence[Assignment]) -> Iterator[Hit]:
    """Warnings. None of them prevents rendering."""
    peak = spec.platform.peak_hours
    if peak is None:
        return
    for model in spec.models:
        if model.schedule is not None:
            yield from _overlap(model, model.schedule, peak)
    priorities = {it.name: it.value for it in spec.platform.priorities}
    for assignment in assignments:
        yield from _priority(assignment, assignments, priorities)


def _overlap(model: Model, schedule: ModelSchedule, peak: PeakHours) -> Iterator[Hit]:
    at = model.at / "spec" / "schedule"
    if not all(map(time_zones.is_known, (schedule.time_zone, peak.time_zone))):
        return  # `spec.time_zones` reports them
    zones = _differences(schedule.time_zone, peak.time_zone)
    if zones is None:
        message = (
            f'the schedule of model "{model.name}" cannot be compared with the peak hours, because '
            "this machine has no time zone database; install tzdata, or write "
            f"timeZone: {peak.time_zone}, and cron in this time zone"
        )
        yield Hit(SCHEDULE_OVERLAPS_PEAK, message, at / "timeZone")
        return
    runs = min(_runs(schedule, zones, _peaks(peak)), default=None)
    length = schedule.hours * _HOUR
    if runs is None or length + _MOST_CHANGE <= runs.room:
        return
    changed = clock_changes.shortest(schedule, peak) if runs.room > 0 else None
    room = min(runs.room, changed.room) if changed else runs.room
    if length <= room:
        return
    if changed and length <= runs.room:
        start, begins, ends = (_minute(it) for it in (changed.start, changed.begins, changed.ends))
        end = _minute(changed.after(schedule.hours))
        when = f", because clocks change during the run of {changed.start.date()}"
    else:
        (begins, ends), when = runs.peak, ""
        start = runs.first if _is_inside(runs.first, runs.peak) else runs.last
        end = start + length
    hours = room // _HOUR
    remedy = f"write hours: {hours}" if hours > 0 else "write a cron whose runs end before the peak"
    message = (
        f'model "{model.name}" can run from {_text(start)} to {_text(end)} ({peak.time_zone}), which overlaps '
        f"the peak hours from {_text(begins)} to {_text(ends)}{when}; {remedy}"
    )
    yield Hit(SCHEDULE_OVERLAPS_PEAK, message, at / ("hours" if hours > 0 else "cron"))


def _runs(
    schedule: ModelSchedule, zones: Mapping[int, _Dates], peaks: Sequence[tuple[int, int]]
) -> Iterator[_Runs]:
    """The runs of each hour in which the schedule has some."""
    times = cron.parse(schedule.cron)
    if times is None:
        return
    for difference, dates in zones.items():
        for weekday in range(7):
            if not any(times.on(month, day, weekday) for month, day in dates):
                continue
            for hour in times.hours:
                start = weekday * _DAY + hour * _HOUR + difference
                first, last = start + min(times.minutes), start + max(times.minutes)
                yield min(_Runs(_room(first, last, it), first, last, it) for it in peaks)


def _room(first: int, last: int, peak: tuple[int, int]) -> int:
    return 0 if _is_inside(first, peak) else (peak[0] - first) % _WEEK - (last - first)


def _is_inside(minute: int, peak: tuple[int, int]) -> bool:
    begins, ends = peak
    return (minute - begins) % _WEEK < ends - begins


def _peaks(peak: PeakHours) -> tuple[tuple[int, int], ...]:
    start, end = (
        it.hour * _HOUR + it.minute
        for it in (time.fromisoformat(peak.start), time.fromisoformat(peak.end))
    )
    length = (end - start) % _DAY
    begins = (DAYS.index(day) * _DAY + start for day in peak.days)
    return tuple((it, it + length) for it in sorted(begins))


@cache
def _differences(zone: str, other: str) -> Mapping[int, _Dates] | None:
    """The minutes by which clocks of `other` are ahead, with the dates on which they are.

    None if this machine does not know a zone. On days on which clocks change, the difference at noon
    is used; `clock_changes` reads the runs of these days.
    """
    count = (clock_changes.LAST - clock_changes.FIRST).days + 1
    days = [clock_changes.FIRST + timedelta(days=index) for index in range(count)]
    found: defaultdict[int, set[tuple[int, int]]] = defaultdict(set)
    if zone == other:
        return {0: frozenset((it.month, it.day) for it in days)}
    from zoneinfo import ZoneInfo  # noqa: PLC0415 - few specs compare time zones

    try:
        here, there = ZoneInfo(zone), ZoneInfo(other)
    except (OSError, ValueError, LookupError):  # a folder, or a file that is not a time zone
        return None
    noon = time(12)
    for it in days:
        moment = datetime.combine(it, noon, here)
        ahead = moment.astimezone(there).replace(tzinfo=None) - moment.replace(tzinfo=None)
        found[int(ahead.total_seconds()) // 60].add((it.month, it.day))
    return {ahead: frozenset(dates) for ahead, dates in sorted(found.items())}


def _priority(
    assignment: Assignment, assignments: Sequence[Assignment], priorities: Mapping[str, int]
) -> Iterator[Hit]:
    """The time in which Kueue suspends a Job does not count in activeDeadlineSeconds.

    So a Job that waits can run after its window. In other pools, Kubernetes ends it in time.
    """
    model, queue = assignment.model, assignment.queue
    preempts = assignment.facts.policy.preemption_enabled
    if (
        model.schedule is None
        or queue is None
        or assignment.tree.scheduler != "kueue"
        or not preempts
    ):
        return
    own = priorities.get(model.priority or "", 0)
    serving = [
        (priorities.get(it.model.priority or "", 0), it.model.name)
        for it in assignments
        if it.model.workload == "serving" and it.queue == queue and it.tree is assignment.tree
    ]
    lowest, name = min(serving, default=(own + 1, ""))
    if own < lowest:
        return
    message = (
        f"model {quoted(model.name)} has priority {own}, and serving model {quoted(name)} in its queue "
        f"{queue} has {lowest}. A run that waits in the queue can start in the peak hours, and "
        f"{name} cannot preempt it; give {model.name} a priority below {lowest}"
    )
    at = model.at / "spec"
    yield Hit(SCHEDULED_PRIORITY_HIGH, message, at / "priority" if model.priority else at)


def _minute(moment: datetime) -> int:
    """The minute of the week on the clock."""
    return moment.isoweekday() % 7 * _DAY + moment.hour * _HOUR + moment.minute


def _text(minute: int) -> str:
    day, rest = divmod(minute % _WEEK, _DAY)
    return f"{DAYS[day]} {rest // _HOUR:02}:{rest % _HOUR:02}"
