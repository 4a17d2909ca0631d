"""The plugin deviceshare packs the GPUs within a node, but does not pack nodes."""

from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano.configuration import plugins


def check(facts: Facts) -> Hits:
    """Its score of nodes is multiplied by ScheduleWeight, which is 0 by default.

    Source: pkg/scheduler/plugins/deviceshare/deviceshare.go; volcano-sh/volcano#5643.
    """
    for plugin in plugins(facts):
        policy = plugin.arguments.get("deviceshare.SchedulePolicy")
        weight = plugin.number("deviceshare.ScheduleWeight", 0)
        if plugin.name == "deviceshare" and policy == "binpack" and weight == 0:
            yield Hit(
                RULE,
                "deviceshare.SchedulePolicy is binpack without a ScheduleWeight, so plugin deviceshare "
                "packs the GPUs of a node, but does not affect the choice of the node; write "
                "deviceshare.ScheduleWeight: 10",
                plugin.argument_at("deviceshare.SchedulePolicy"),
            )


RULE = ObjectRule(
    "deviceshare-does-not-pack-nodes",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Set deviceshare.ScheduleWeight to a number above 0.",
    judges=("volcano-scheduler.conf",),
    check=check,
    aliases=("deviceshare-packs-cards-only",),
)
