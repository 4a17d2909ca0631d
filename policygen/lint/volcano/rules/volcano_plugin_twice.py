"""A plugin of Volcano's scheduler is listed twice: it votes twice, with the arguments of the last."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.rule import Facts, Family, ObjectRule
from policygen.lint.volcano.configuration import Placed, all_settings


def check(facts: Facts) -> Iterator[Hit]:
    """Functions are kept by the plugin's name, and called wherever the name stands.

    Source: pkg/scheduler/framework/framework.go, OpenSession, and session_plugins.go.
    """
    for each in all_settings(facts):
        first: dict[str, Placed] = {}
        for plugin in each.plugins:
            if plugin.name in first:
                other = first[plugin.name]
                where = "above" if other.tier == plugin.tier else f"in tier {other.tier + 1}"
                yield Hit(
                    RULE,
                    f"plugin {plugin.name} stands {where} already: it votes twice, and the arguments "
                    "here hold for both; keep one",
                    plugin.at / "name",
                    related=(other.at / "name",),
                )
            first.setdefault(plugin.name, plugin)


RULE = ObjectRule(
    "volcano-plugin-twice",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=("volcano-scheduler.conf",),
    check=check,
)
