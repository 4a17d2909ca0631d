"""A text or number in an argument of a Volcano plugin says nothing to it, so another value stands."""

import re
from collections.abc import Iterator
from typing import Any

from policygen.core.durations import seconds
from policygen.core.finding import At, Hit
from policygen.core.quoting import quoted, shown
from policygen.core.rule import Severity
from policygen.lint.rule import Facts, Family, ObjectRule
from policygen.lint.volcano.configuration import Placed, all_settings

_PERIODS = {("tdm", "tdm.evict.period"): "1m", ("rescheduling", "interval"): "5m"}
"""What stands instead of a text that is no duration."""
_WAITING = "sla-waiting-time"
_ZONE = "tdm.revocable-zone."
_TIME = "([01]?[0-9]|2[0-3]):[0-5][0-9]"
_OPEN = re.compile(f"{_TIME}-{_TIME}", re.ASCII)
_USED = ("cpu", "mem")


def check(facts: Facts) -> Iterator[Hit]:
    """Values of another type are told by volcano-argument-mistyped and volcano-scheduler-crashes.

    Source: New and OnSessionOpen of pkg/scheduler/plugins/{sla,tdm,usage,rescheduling}.
    """
    for each in all_settings(facts):
        for plugin in each.plugins:
            for name, value in plugin.arguments.items():
                if isinstance(value, str):
                    yield from _text(plugin, name, value)
            if plugin.name == "usage" and "thresholds" in plugin.arguments:
                yield from _thresholds(plugin.arguments["thresholds"], plugin.argument_at)


def _text(plugin: Placed, name: str, value: str) -> Iterator[Hit]:
    said = f"{name} of plugin {plugin.name} is {quoted(value)}"
    at = plugin.argument_at(name)
    if plugin.name == "sla" and name == _WAITING:
        lasts = seconds(value)
        if lasts is None or lasts <= 0:
            yield Hit(
                RULE, f"{said}, so no job's time runs out; write a duration such as 1h30m", at
            )
    instead = _PERIODS.get((plugin.name, name))
    if instead and seconds(value) is None:
        yield Hit(RULE, f"{said}, so {instead} stands; write a duration such as 90s", at)
    if plugin.name == "tdm" and name.startswith(_ZONE) and not _OPEN.fullmatch(value.strip()):
        yield Hit(RULE, f"{said}, so the zone is never open; write times such as 22:00-06:00", at)


def _thresholds(value: Any, argument: Any) -> Iterator[Hit]:
    at: At = argument("thresholds")
    if not isinstance(value, dict):
        message = f"thresholds of plugin usage is {shown(value)}, so 80 stands for both; write a mapping of cpu and mem"
        yield Hit(RULE, message, at)
        return
    for name, most in value.items():
        if name not in _USED:
            message = f"plugin usage knows no threshold of {quoted(str(name))}; write cpu or mem"
            yield Hit(RULE, message, At(at.document, (*at.path, name), key=True))
        elif isinstance(most, bool) or not isinstance(most, int):
            message = (
                f"the threshold of {name} is {shown(most)}, which plugin usage reads as 0, so that it "
                "keeps pods from every node that does something; write a whole number of percent"
            )
            yield Hit(RULE, message, At(at.document, (*at.path, name)))


RULE = ObjectRule(
    "volcano-argument-ignored",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=("volcano-scheduler.conf",),
    check=check,
    aliases=("volcano-argument-unread",),
)
