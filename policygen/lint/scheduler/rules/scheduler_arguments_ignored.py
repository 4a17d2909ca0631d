"""A kube-scheduler profile has arguments for an unknown plugin, so the arguments are ignored."""

from policygen.core.suggest import Names, suggest
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity, written
from policygen.lint.scheduler import terms
from policygen.lint.scheduler.scoring import profiles


def check(facts: Facts) -> Hits:
    """Only enabled plugins look up their name in pluginConfig; other names are ignored.

    If the plugin is enabled too, kube-scheduler does not start, which another rule reports.
    Source: pkg/scheduler/framework/runtime/framework.go; run on 1.36.3.
    """
    target = facts.target["kubernetes"]
    known = terms.plugins(target)
    for scored in profiles(facts.cluster):
        enabled = {
            plugin.name for plugins in scored.profile.plugins.values() for plugin in plugins.enabled
        }
        for i, config in enumerate(scored.profile.plugin_config):
            if config.name in (*known, *terms.OTHERS, *enabled):
                continue
            name, at = config.name.removesuffix("Args"), scored.at.to("pluginConfig", i, "name")
            yield Hit(
                RULE,
                f'profile {scored.name} has arguments for "{config.name}", which is not a '
                f"plugin, so the arguments are ignored; {suggest(name, known)}",
                at,
                meant=written(at, Names(known).meant(name)),
            )


RULE = ObjectRule(
    "scheduler-arguments-ignored",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Write the plugin's exact name.",
    judges=("KubeSchedulerConfiguration",),
    check=check,
    aliases=("scheduler-arguments-unread",),
)
