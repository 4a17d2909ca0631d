"""The plugin sla lets jobs in before the plugin that knows their queue's quota is asked."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.rule import Facts, Family, ObjectRule
from policygen.lint.volcano.configuration import QUEUE_PLUGINS, all_settings


def check(facts: Facts) -> Iterator[Hit]:
    """The first tier that permits or rejects decides whether a job is enqueued.

    Source: pkg/scheduler/framework/session_plugins.go, JobEnqueueable; plugins/sla/sla.go.
    """
    for each in all_settings(facts):
        sla = each.plugin("sla")
        if sla is None or "enqueue" not in each.actions:
            continue
        for plugin in each.plugins:
            if plugin.name in QUEUE_PLUGINS and plugin.tier > sla.tier:
                yield Hit(
                    RULE,
                    f"sla stands in a tier before {plugin.name}, so a job that waited long enough "
                    f"is enqueued whatever its queue may have; move sla into tier "
                    f"{plugin.tier + 1}, beside {plugin.name}",
                    sla.at / "name",
                    (plugin.at,),
                )
                break


RULE = ObjectRule(
    "sla-overrides-quota",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=("volcano-scheduler.conf",),
    check=check,
)
