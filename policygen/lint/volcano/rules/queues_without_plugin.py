"""There are queues, and the scheduler has no plugin that reads their limits."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.rule import Facts, Family, Need, ObjectRule
from policygen.lint.volcano.configuration import QUEUE_PLUGINS, all_settings


def check(facts: Facts) -> Iterator[Hit]:
    """Without capacity and proportion, nothing compares a queue's use with what it may have.

    Source: pkg/scheduler/framework/session_plugins.go, Allocatable: no plugin, no limit.
    """
    queues = [it for it in facts.cluster.queues if it.it.capability or it.it.deserved]
    for each in all_settings(facts) if queues else ():
        if all(plugin.name not in QUEUE_PLUGINS for plugin in each.plugins):
            yield Hit(
                RULE,
                f"neither capacity nor proportion is on, so {queues[0]} and all other queues have "
                "no limit; add capacity to the first tier",
                each.entry.at / "tiers",
                (queues[0].at,),
            )


RULE = ObjectRule(
    "queues-without-plugin",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=("Queue",),
    check=check,
    needs=frozenset({Need.VOLCANO_CONFIGURATION}),
    reads=("volcano-scheduler.conf",),
    aliases=("queues-read-by-no-plugin",),
)
