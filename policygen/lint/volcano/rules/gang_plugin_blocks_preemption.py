"""The plugin gang protects the pods of gangs, so preempt or reclaim find no pods to evict."""

from collections.abc import Collection

from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano.configuration import VolcanoFile, all_settings

SWITCHES = {"preempt": "enablePreemptable", "reclaim": "enableReclaimable"}
"""Actions that evict pods, and the switch by which a plugin names their victims."""
_VOTERS = {
    "preempt": ("cdp", "conformance", "drf", "extender", "pdb", "priority", "tdm"),
    "reclaim": ("capacity", "cdp", "conformance", "extender", "pdb", "proportion"),
}
"""Other plugins that name victims."""


def check(facts: Facts) -> Hits:
    """Gang names only pods above minMember as victims, and all plugins of its tier must agree.

    Without a plugin for shares of queues, reclaim has nothing to decide by, as queues-without-plugin reports.
    If they agree on no pod, a later tier decides, so only the last tier that votes is checked.
    Source: pkg/scheduler/plugins/gang/gang.go; framework/session_plugins.go, Reclaimable;
    volcano-sh/volcano#3332, #1642.
    """
    for configuration in all_settings(facts):
        gang = configuration.plugin("gang")
        if gang is None:
            continue
        on = [
            name
            for name in blocked(facts, configuration, gang.tier, configuration.evicts)
            if gang.on(SWITCHES[name])
        ]
        if on:
            yield Hit(
                RULE,
                "plugin gang protects all pods that a job needs for its minMember, so "
                f"{' and '.join(on)} cannot evict these pods; write "
                f"{' and '.join(f'{SWITCHES[name]}: false' for name in on)}",
                gang.at,
                (configuration.actions_at,),
            )


def blocked(
    facts: Facts, configuration: VolcanoFile, tier: int, actions: Collection[str]
) -> list[str]:
    """Those of the actions for which gang in a tier decides, because no plugin of a later tier votes."""
    without_shares = "queues-without-plugin" in facts.run and not any(
        map(configuration.plugin, ("capacity", "proportion"))
    )
    return [
        name
        for name in SWITCHES
        if name in actions
        and not any(
            plugin.tier > tier and plugin.name in _VOTERS[name] and plugin.on(SWITCHES[name])
            for plugin in configuration.plugins
        )
        and not (without_shares and name == "reclaim" and facts.cluster.queues.any)
    ]


RULE = ObjectRule(
    "gang-plugin-blocks-preemption",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Set enablePreemptable or enableReclaimable of the plugin gang to false.",
    judges=("volcano-scheduler.conf",),
    check=check,
    aliases=("gang-shields-victims",),
)
