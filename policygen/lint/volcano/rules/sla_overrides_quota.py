"""The plugin sla admits jobs before the plugin that checks the quota of their Queue."""

from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano.configuration import QUEUE_PLUGINS, all_settings


def check(facts: Facts) -> Hits:
    """The first tier that permits or rejects decides whether a job is enqueued.

    Source: pkg/scheduler/framework/session_plugins.go, JobEnqueueable; plugins/sla/sla.go.
    """
    for configuration in all_settings(facts):
        sla = configuration.plugin("sla")
        if sla is None or "enqueue" not in configuration.actions:
            continue
        for plugin in configuration.plugins:
            if plugin.name in QUEUE_PLUGINS and plugin.tier > sla.tier:
                yield Hit(
                    RULE,
                    f"plugin sla is in a tier before {plugin.name}, so sla admits a job after its sla-waiting-time even if the queue is full; move sla "
                    "into tier "
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
    remedy="Move sla into the tier of the plugin capacity or proportion.",
    judges=("volcano-scheduler.conf",),
    check=check,
)
