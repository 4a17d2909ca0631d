"""Volcano's scheduler has no plugin of this name, so it goes on without."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.core.suggest import suggest
from policygen.lint.rule import Facts, Family, ObjectRule
from policygen.lint.volcano import terms
from policygen.lint.volcano.configuration import all_settings


def check(facts: Facts) -> Iterator[Hit]:
    """The scheduler logs an error each session and leaves the plugin out.

    Source: pkg/scheduler/framework/framework.go, OpenSession; volcano-sh/volcano#3424.
    """
    target = facts.target["volcano"]
    known = terms.plugins(target)
    for each in all_settings(facts):
        for plugin in each.plugins:
            if plugin.name not in known:
                yield Hit(
                    RULE,
                    f'plugin "{plugin.name}" is none of Volcano {target}, so the scheduler goes on '
                    f"without it; {suggest(plugin.name, known)}",
                    plugin.at / "name",
                )


RULE = ObjectRule(
    "volcano-plugin-unknown",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=("volcano-scheduler.conf",),
    check=check,
    aliases=("volcano-unknown-plugin",),
)
