"""Parses the schedules of CronJobs as Kubernetes and Volcano do.

Both use github.com/robfig/cron/v3 (parser.go), whose day of the week ends at 6.
"""

import re
from collections.abc import Mapping

from msgspec import Struct

from policygen.core import durations

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_LENGTHS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
"""The most days of each month."""
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_FIELDS = (
    (0, 59, ()),
    (0, 23, ()),
    (1, 31, ()),
    (1, 12, ("", *_MONTHS)),
    (0, 6, _DAYS),
)
"""Minute, hour, day, month, day of the week: lowest, highest, names."""
_NAMES = ("minute", "hour", "day", "month", "day of the week")
_DESCRIPTORS: Mapping[str, str] = {
    "yearly": "0 0 1 1 *",
    "annually": "0 0 1 1 *",
    "monthly": "0 0 1 * *",
    "weekly": "0 0 * * 0",
    "daily": "0 0 * * *",
    "midnight": "0 0 * * *",
    "hourly": "0 * * * *",
}
_EVERY = "@every "
_RANGE = re.compile(r"(\*|\?|[0-9A-Za-z]{1,20})(?:-([0-9A-Za-z]{1,20}))?(?:/([0-9]{1,20}))?")


class CronSchedule(Struct, frozen=True):
    """The times of a schedule: numbers of each field, Sunday is 0."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    both_days: bool
    """Whether day and weekday must both match, since one of them is `*`. Otherwise one is enough."""

    def on(self, month: int, day: int, weekday: int) -> bool:
        """Whether it runs on a date."""
        matches = day in self.days, weekday in self.weekdays
        return month in self.months and (all(matches) if self.both_days else any(matches))

    @property
    def ever_runs(self) -> bool:
        """Whether it has times, and a day that exists in one of its months: the 30th of February does not."""
        if not (self.minutes and self.hours and self.months):
            return False
        if not self.both_days and self.weekdays:
            return True
        return any(day <= _LENGTHS[month - 1] for month in self.months for day in self.days)


def is_schedule(text: str) -> bool:
    """Whether the servers accept a schedule (without a time zone in it)."""
    if text.startswith(_EVERY):
        return durations.seconds(text.removeprefix(_EVERY)) is not None
    return parse(text) is not None


def parse(text: str) -> CronSchedule | None:
    """The times of a schedule; None if it is not valid, or an interval (`@every`)."""
    words = _DESCRIPTORS.get(text[1:], "").split() if text.startswith("@") else text.split()
    if len(words) != len(_FIELDS):
        return None
    found: list[frozenset[int]] = []
    for word, field in zip(words, _FIELDS, strict=True):
        ranges = [_range(part, *field) for part in word.split(",") if part]
        if any(it is None for it in ranges):
            return None
        found.append(frozenset(number for it in ranges if it for number in it))
    minutes, hours, days, months, weekdays = found
    both = _is_any(words[2]) or _is_any(words[4])
    return CronSchedule(minutes, hours, days, months, weekdays, both)


def field_fault(text: str) -> str:
    """Which field of a schedule is not valid, and what it can be; "" if it does not have five fields."""
    words = text.split()
    if len(words) != len(_FIELDS):
        return ""
    for name, word, (low, high, names) in zip(_NAMES, words, _FIELDS, strict=True):
        if any(_range(part, low, high, names) is None for part in word.split(",") if part):
            return f'its {name} is "{word}"; write numbers from {low} to {high}'
    return ""


def _is_any(word: str) -> bool:
    """Whether a range of the word has the parser's star bit."""
    for part in word.split(","):
        found = _RANGE.fullmatch(part)
        if found and found[1] in {"*", "?"} and int(found[3] or 1) == 1:
            return True
    return False


def _range(text: str, low: int, high: int, names: tuple[str, ...]) -> range | None:
    found = _RANGE.fullmatch(text)
    if found is None:
        return None
    first, last, step = found.groups()
    every = 1 if step is None else int(step)
    if every == 0:
        return None
    if first in {"*", "?"}:
        return range(low, high + 1, every)  # the parser ignores the end of such a range
    start = _number(first, names)
    # `5/10` is all from 5 on.
    end = _number(last, names) if last else high if step else start
    if start is None or end is None or not low <= start <= end <= high:
        return None
    return range(start, end + 1, every)


def _number(text: str, names: tuple[str, ...]) -> int | None:
    if text.lower() in names:
        return names.index(text.lower())
    return int(text) if text.isdigit() else None
