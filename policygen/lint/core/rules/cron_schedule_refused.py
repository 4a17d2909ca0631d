"""The schedule of a CronJob is not valid, or contains a time zone."""

import re

from policygen.core.finding import at_path
from policygen.core.quoting import quoted
from policygen.kubernetes.cluster import VOLCANO_BATCH
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_FIELDS = (
    (0, 59, ()),
    (0, 23, ()),
    (1, 31, ()),
    (1, 12, ("", *_MONTHS)),
    (0, 6, _DAYS),
)
"""Minute, hour, day, month, day of the week: lowest, highest, names."""
_DESCRIPTORS = ("yearly", "annually", "monthly", "weekly", "daily", "midnight", "hourly")
_EVERY = re.compile(r"@every ([0-9]+(\.[0-9]*)?(ns|us|ms|s|m|h))+")
_RANGE = re.compile(r"(\*|\?|[0-9A-Za-z]+)(?:-([0-9A-Za-z]+))?(?:/([0-9]+))?")


def check(facts: Facts) -> Hits:
    """Both servers use github.com/robfig/cron/v3, whose day of the week ends at 6.

    Source: pkg/apis/batch/validation/validation.go, validateScheduleFormat; Volcano's
    cronjobs/validate, from 1.13 on.
    """
    for group in ("batch", VOLCANO_BATCH):
        for job in facts.cluster.of(group, "CronJob"):
            schedule = at_path(job.data, ("spec", "schedule"))
            if not isinstance(schedule, str):
                continue  # `missing-field` or `wrong-type` reports it
            at = job.at.to("spec", "schedule")
            if "TZ" in schedule:
                yield Hit(
                    RULE,
                    f"{job} has a time zone in its schedule, which is refused; write the time zone in timeZone",
                    at,
                )
            elif not _is_schedule(schedule):
                yield Hit(
                    RULE,
                    f"{job} has schedule {quoted(schedule)}, which is not valid; write minute, hour, day, "
                    'month and day of the week, such as "0 3 * * 1", or a word such as @daily',
                    at,
                )


def _is_schedule(text: str) -> bool:
    if text.startswith("@"):
        return text[1:] in _DESCRIPTORS or _EVERY.fullmatch(text) is not None
    words = text.split()
    return len(words) == len(_FIELDS) and all(
        _is_range(part, *field)
        for word, field in zip(words, _FIELDS, strict=True)
        for part in word.split(",")
        if part
    )


def _is_range(text: str, low: int, high: int, names: tuple[str, ...]) -> bool:
    found = _RANGE.fullmatch(text)
    if found is None:
        return False
    first, last, step = found.groups()
    if step is not None and int(step) == 0:
        return False
    if first in {"*", "?"}:
        return True  # the parser ignores the end of such a range
    start, end = _number(first, names), _number(last or first, names)
    return start is not None and end is not None and low <= start <= end <= high


def _number(text: str, names: tuple[str, ...]) -> int | None:
    if text.lower() in names:
        return names.index(text.lower())
    return int(text) if text.isdigit() else None


RULE = ObjectRule(
    "cron-schedule-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write minute, hour, day, month and day of the week; write a time zone in timeZone.",
    judges=("CronJob",),
    check=check,
)
