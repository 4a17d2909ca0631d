"""Parses the schedule of a model and the peak hours, and checks what the schema cannot check."""

from collections.abc import Iterator

from policygen.core import cron
from policygen.core.finding import Hit
from policygen.core.names import CRON_JOB_NAME
from policygen.core.quoting import quoted
from policygen.spec.fields import View
from policygen.spec.rules import INVALID_VALUE
from policygen.spec.types import ModelSchedule, PeakHours

DAYS = ("Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat")
"""In the order of cron, where Sunday is 0."""


def peak_hours(view: View) -> PeakHours | None:
    """The peak hours of the platform; None if it has none. Adds a hit if they have no length."""
    if not view:
        return None
    start, end = view.data["start"], view.data["end"]
    if start == end:
        message = (
            f"the peak hours begin and end at {start}, so they have no length; write another end"
        )
        view.hits.append(Hit(INVALID_VALUE, message, view.at / "end"))
    return PeakHours(view.data["timeZone"], start, end, view.texts("days") or DAYS)


def of_model(spec: View, name: str) -> ModelSchedule | None:
    """The schedule of a model; None if it has none. Adds hits about values that are not possible."""
    view = spec.view("schedule")
    if not view:
        return None
    spec.hits += _faults(spec, view, name)
    return ModelSchedule(view.data["cron"], view.data["timeZone"], view.number("hours") or 1)


def _faults(spec: View, view: View, name: str) -> Iterator[Hit]:
    text = view.data["cron"]
    times = cron.parse(text)
    if times is not None and not times.ever_runs:
        message = f"{quoted(text)} never runs, because no month of it has such a day; write another day or month"
        yield Hit(INVALID_VALUE, message, view.at / "cron")
    if times is None:
        message = (
            f"{quoted(text)} is not a valid schedule; write minute, hour, day, month and day of the "
            'week, such as "0 22 * * 1-5"'
        )
        yield Hit(INVALID_VALUE, message, view.at / "cron")
    if spec.data.get("workload", "serving") == "serving":
        message = (
            "a serving model has no schedule, because its pods do not end; write workload: batch or "
            "training, or remove the schedule"
        )
        yield Hit(INVALID_VALUE, message, view.at)
    gang = spec.view("gang")
    run_as = gang.text("runAs")
    if run_as not in (None, "job"):
        message = (
            f"a model with a schedule runs as a Job each time, so its gang cannot have runAs: {run_as}; "
            "write runAs: job"
        )
        yield Hit(INVALID_VALUE, message, gang.at / "runAs")
    replicas = spec.number("replicas") or 1
    longest = name if replicas == 1 else f"{name}-{replicas - 1}"
    if len(longest) > CRON_JOB_NAME:
        message = (
            f"the CronJob would be named {quoted(longest)}, but its name can have at most "
            f"{CRON_JOB_NAME} characters; shorten the name of the model"
        )
        yield Hit(INVALID_VALUE, message, view.at)
