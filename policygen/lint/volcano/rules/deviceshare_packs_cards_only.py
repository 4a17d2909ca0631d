"""deviceshare packs the cards of a node, and nothing packs the nodes."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.rule import Facts, Family, ObjectRule
from policygen.lint.volcano.configuration import all_settings


def check(facts: Facts) -> Iterator[Hit]:
    """Its score of nodes counts with ScheduleWeight, which is 0 unless it is written.

    Source: pkg/scheduler/plugins/deviceshare/deviceshare.go; volcano-sh/volcano#5643.
    """
    for each in all_settings(facts):
        for plugin in each.plugins:
            policy = plugin.arguments.get("deviceshare.SchedulePolicy")
            weight = plugin.number("deviceshare.ScheduleWeight", 0)
            if plugin.name == "deviceshare" and policy == "binpack" and weight == 0:
                yield Hit(
                    RULE,
                    "SchedulePolicy binpack without a ScheduleWeight chooses among the cards of a "
                    "node and not among nodes; write deviceshare.ScheduleWeight: 10",
                    plugin.argument_at("deviceshare.SchedulePolicy"),
                )


RULE = ObjectRule(
    "deviceshare-packs-cards-only",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=("volcano-scheduler.conf",),
    check=check,
)
