"""An argument of a Volcano plugin has an invalid value, so Volcano ignores it."""

import re
from typing import Any

from policygen.core.durations import seconds
from policygen.core.finding import At
from policygen.core.quoting import quoted, shown
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano.configuration import ListedPlugin, plugins

_PERIODS = {("tdm", "tdm.evict.period"): "1m", ("rescheduling", "interval"): "5m"}
"""The default that replaces an invalid duration."""
_WAITING = "sla-waiting-time"
_ZONE = "tdm.revocable-zone."
_TIME = "([01]?[0-9]|2[0-3]):[0-5][0-9]"
_OPEN = re.compile(f"{_TIME}-{_TIME}", re.ASCII)
_USED = ("cpu", "mem")
_PREFIX = "extender.urlPrefix"


def check(facts: Facts) -> Hits:
    """volcano-argument-mistyped and volcano-scheduler-crashes report values of a wrong type.

    Source: New and OnSessionOpen of pkg/scheduler/plugins/{sla,tdm,usage,rescheduling,extender}.
    """
    for plugin in plugins(facts):
        for name, value in plugin.arguments.items():
            if isinstance(value, str):
                yield from _text(plugin, name, value)
        if plugin.name == "extender":
            yield from _extender(plugin)
        if plugin.name == "usage" and "thresholds" in plugin.arguments:
            yield from _thresholds(plugin.arguments["thresholds"], plugin.at / "arguments")


def _text(plugin: ListedPlugin, name: str, value: str) -> Hits:
    argument = f"{name} of plugin {plugin.name} is {quoted(value)}"
    at = plugin.argument_at(name)
    if plugin.name == "sla" and name == _WAITING:
        lasts = seconds(value)
        if lasts is None or lasts <= 0:
            yield Hit(
                RULE,
                f"{argument}, so plugin sla never admits a job because of its waiting time; write a duration "
                "such as 1h30m",
                at,
            )
    default = _PERIODS.get((plugin.name, name))
    if default and seconds(value) is None:
        yield Hit(
            RULE, f"{argument}, so Volcano uses {default} instead; write a duration such as 90s", at
        )
    if plugin.name == "tdm" and name.startswith(_ZONE) and not _OPEN.fullmatch(value.strip()):
        yield Hit(RULE, f"{argument}, so the zone never opens; write times such as 22:00-06:00", at)


def _extender(plugin: ListedPlugin) -> Hits:
    prefix = plugin.arguments.get(_PREFIX) or ""
    calls = any(name.endswith("Verb") and verb for name, verb in plugin.arguments.items())
    if calls and isinstance(prefix, str) and not prefix.lower().startswith(("http://", "https://")):
        value = quoted(prefix) if prefix else "not set"
        yield Hit(
            RULE,
            f"{_PREFIX} of plugin extender is {value}, so each call to its server fails; "
            "write a URL such as http://127.0.0.1:8080",
            plugin.argument_at(_PREFIX) if _PREFIX in plugin.arguments else plugin.at / "arguments",
        )


def _thresholds(value: Any, arguments: At) -> Hits:
    at = arguments / "thresholds"
    if not isinstance(value, dict):
        message = (
            f"thresholds of plugin usage is {shown(value)}, so 80 is used for cpu and mem; "
            "write a mapping such as {cpu: 80, mem: 80}"
        )
        yield Hit(RULE, message, at.on_key())
        return
    for name, most in value.items():
        if name not in _USED:
            message = f"plugin usage has no threshold {quoted(str(name))}; write cpu or mem"
            yield Hit(RULE, message, (at / name).on_key())
        elif isinstance(most, bool) or not isinstance(most, int):
            message = (
                f"threshold {name} of plugin usage is {shown(most)}, which is read as 0, so no "
                "node in use gets pods; write a percentage as a whole number"
            )
            yield Hit(RULE, message, at / name)


RULE = ObjectRule(
    "volcano-argument-ignored",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write the value in the form that the message shows.",
    judges=("volcano-scheduler.conf",),
    check=check,
    aliases=("volcano-argument-unread",),
)
