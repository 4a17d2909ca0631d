"""Volcano's scheduler configuration names an unknown plugin, which is skipped."""

from policygen.core.suggest import Names
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity, written
from policygen.lint.volcano import terms
from policygen.lint.volcano.configuration import plugins


def check(facts: Facts) -> Hits:
    """The scheduler logs an error in each session and skips the plugin.

    Source: pkg/scheduler/framework/framework.go, OpenSession; volcano-sh/volcano#3424.
    """
    target = facts.target["volcano"]
    known = Names(terms.plugins(target))
    for plugin in plugins(facts):
        if plugin.name not in known:
            yield Hit(
                RULE,
                f'plugin "{plugin.name}" does not exist in Volcano {target}, so the '
                f"scheduler continues without this plugin; {known.advice(plugin.name)}",
                plugin.at / "name",
                meant=written(plugin.at / "name", known.meant(plugin.name)),
            )


RULE = ObjectRule(
    "volcano-plugin-unknown",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Write the name of a plugin that your release of Volcano has.",
    judges=("volcano-scheduler.conf",),
    check=check,
    aliases=("volcano-unknown-plugin",),
)
