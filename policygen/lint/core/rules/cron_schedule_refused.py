"""The schedule of a CronJob is not valid, or contains a time zone."""

from policygen.core import cron
from policygen.core.finding import at_path
from policygen.core.quoting import quoted
from policygen.kubernetes.cluster import VOLCANO_BATCH
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_FORM = '; write minute, hour, day, month and day of the week, such as "0 3 * * 1", or a word such as @daily'


def check(facts: Facts) -> Hits:
    """Both servers use the same parser (core.cron).

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
            elif not cron.is_schedule(schedule):
                fault = cron.field_fault(schedule)
                advice = f", because {fault}" if fault else _FORM
                yield Hit(
                    RULE, f"{job} has schedule {quoted(schedule)}, which is not valid{advice}", at
                )


RULE = ObjectRule(
    "cron-schedule-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write minute, hour, day, month and day of the week; write a time zone in timeZone.",
    judges=("CronJob",),
    check=check,
)
