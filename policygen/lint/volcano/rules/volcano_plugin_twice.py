"""Volcano's scheduler configuration lists a plugin twice, so the scheduler calls the plugin twice."""

from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano.configuration import ListedPlugin, all_settings


def check(facts: Facts) -> Hits:
    """The scheduler keeps functions by the plugin's name and calls them for each entry.

    Source: pkg/scheduler/framework/framework.go, OpenSession, and session_plugins.go.
    """
    for configuration in all_settings(facts):
        first: dict[str, ListedPlugin] = {}
        for plugin in configuration.plugins:
            if plugin.name in first:
                other = first[plugin.name]
                yield Hit(
                    RULE,
                    f"plugin {plugin.name} is already listed in tier {other.tier + 1}, so the scheduler calls the plugin twice, "
                    "with the arguments of the last entry; remove one of the entries",
                    plugin.at / "name",
                    related=(other.at / "name",),
                )
            first.setdefault(plugin.name, plugin)


RULE = ObjectRule(
    "volcano-plugin-twice",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Remove one of the two entries.",
    judges=("volcano-scheduler.conf",),
    check=check,
)
