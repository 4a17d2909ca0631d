"""Queues have limits, but the scheduler has no plugin that enforces limits."""

from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.lint.volcano.configuration import QUEUE_PLUGINS, all_settings


def check(facts: Facts) -> Hits:
    """Without capacity and proportion, no plugin compares the use of a queue with its limit.

    Source: pkg/scheduler/framework/session_plugins.go, Allocatable: no plugin, no limit.
    """
    queues = [
        queue for queue in facts.cluster.queues if queue.fields.capability or queue.fields.deserved
    ]
    # Only capacity uses deserved, and only proportion the weight.
    plugin = "capacity" if any(it.fields.deserved for it in queues) else "proportion"
    for configuration in all_settings(facts) if queues else ():
        if not any(map(configuration.plugin, QUEUE_PLUGINS)):
            yield Hit(
                RULE,
                f"neither plugin capacity nor proportion is enabled, so {queues[0]} and all "
                f"other queues have no limit; add {plugin} to the first tier",
                configuration.entry.at / "tiers",
                (queues[0].at,),
            )


RULE = ObjectRule(
    "queues-without-plugin",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Add the plugin capacity, or proportion if the queues have weights and no deserved.",
    judges=("Queue",),
    check=check,
    needs=frozenset({Need.VOLCANO_CONFIGURATION}),
    aliases=("queues-read-by-no-plugin",),
)
