"""Findings about time zones that the database of this machine does not have."""

from collections.abc import Iterable, Iterator
from functools import cache

from policygen.core.finding import Hit
from policygen.core.quoting import quoted
from policygen.core.suggest import suggest
from policygen.spec.rules import TIME_ZONE_UNKNOWN
from policygen.spec.types import Model, Platform


def reports(platforms: Iterable[Platform], models: Iterable[Model]) -> Iterator[Hit]:
    """Warnings about the time zones of schedules and of the peak hours."""
    zones = [
        (
            f"the schedule of model {quoted(it.name)}",
            it.schedule.time_zone,
            it.at / "spec" / "schedule",
        )
        for it in models
        if it.schedule is not None
    ]
    zones += [
        ("peakHours", it.peak_hours.time_zone, it.at / "spec" / "peakHours")
        for it in platforms
        if it.peak_hours is not None and it.at is not None
    ]
    for who, zone, at in zones:
        if not is_known(zone):
            message = f"{who} has time zone {quoted(zone)}, which this machine does not know; {_advice(zone)}"
            yield Hit(TIME_ZONE_UNKNOWN, message, at / "timeZone")


@cache
def is_known(zone: str) -> bool:
    """Whether the database has a time zone. True for all without a database."""
    from zoneinfo import ZoneInfo  # noqa: PLC0415 - few specs have time zones

    try:
        ZoneInfo(zone)
    except (OSError, ValueError, LookupError):  # a folder, or a file that is not a time zone
        return not known_zones()
    return True


@cache
def known_zones() -> tuple[str, ...]:
    """All time zones of the database, sorted; none without a database."""
    from zoneinfo import available_timezones  # noqa: PLC0415 - few names are wrong

    return tuple(sorted(available_timezones()))


@cache
def _advice(zone: str) -> str:
    return suggest(zone, known_zones(), "time zone")
