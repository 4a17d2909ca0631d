"""The plugin gang protects the pods of gangs, so preempt or reclaim find no pods to evict."""

from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano.configuration import ListedPlugin, VolcanoFile, all_settings

_SWITCHES = {"preempt": "enablePreemptable", "reclaim": "enableReclaimable"}
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
        without_shares = "queues-without-plugin" in facts.run and not any(
            map(configuration.plugin, ("capacity", "proportion"))
        )
        on = [
            name
            for name in _SWITCHES
            if name in configuration.evicts and _last(configuration, gang, name)
            if not (without_shares and name == "reclaim" and facts.cluster.queues.any)
        ]
        if on:
            yield Hit(
                RULE,
                "plugin gang protects all pods that a job needs for its minMember, so "
                f"{' and '.join(on)} cannot evict these pods; write "
                f"{' and '.join(f'{_SWITCHES[name]}: false' for name in on)}",
                gang.at,
                (configuration.actions_at,),
            )


def _last(configuration: VolcanoFile, gang: ListedPlugin, action: str) -> bool:
    """Whether gang votes and no plugin of a later tier does."""
    switch = _SWITCHES[action]
    return gang.on(switch) and not any(
        plugin.tier > gang.tier and plugin.name in _VOTERS[action] and plugin.on(switch)
        for plugin in configuration.plugins
    )


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
