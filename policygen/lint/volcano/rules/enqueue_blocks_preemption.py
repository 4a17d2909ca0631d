"""The action enqueue keeps PodGroups in phase Pending, and the actions preempt and reclaim evict no pods for them."""

from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano.configuration import QUEUE_PLUGINS, VolcanoFile, all_settings

_HOLDERS = {"preempt": (*QUEUE_PLUGINS, "overcommit"), "reclaim": ("overcommit",)}
"""Plugins that hold back a job for which the action would make room.

For capacity and proportion, a queue below what it deserves has room; for overcommit, a full cluster
has no room.
"""


def check(facts: Facts) -> Hits:
    """Preempt and reclaim skip jobs whose PodGroup is Pending; without the action no PodGroup stays so.

    Source: pkg/scheduler/actions/{reclaim,preempt,enqueue}; volcano-sh/volcano#4756; run on 1.14.1.
    """
    for configuration in all_settings(facts):
        held = [name for name in configuration.evicts if holds(configuration, name)]
        if held:
            rest = ", ".join(name for name in configuration.actions if name != "enqueue")
            act = "act" if len(held) > 1 else "acts"
            yield Hit(
                RULE,
                "action enqueue keeps a PodGroup in phase Pending while its queue or the cluster is full, but "
                f'{" and ".join(held)} {act} only for PodGroups that have left this phase; write actions: "{rest}"',
                configuration.actions_at,
            )


def holds(configuration: VolcanoFile, action: str) -> bool:
    """Whether the action enqueue holds back jobs for which another action would evict pods."""
    holders = _HOLDERS[action.removeprefix("gang")]
    return "enqueue" in configuration.actions and not _holders(configuration).isdisjoint(holders)


def _holders(configuration: VolcanoFile) -> set[str]:
    """The plugins that decide about room: those of the first tier that has any."""
    found = [
        plugin
        for plugin in configuration.plugins
        if plugin.name in _HOLDERS["preempt"] and plugin.on("enableJobEnqueued")
    ]
    return {plugin.name for plugin in found if plugin.tier == found[0].tier}


RULE = ObjectRule(
    "enqueue-blocks-preemption",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Remove enqueue from the actions.",
    judges=("volcano-scheduler.conf",),
    check=check,
    aliases=("enqueue-starves-claimants",),
)
