"""An argument of a Volcano plugin is too small, so another value is used."""

from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano.configuration import ListedPlugin, plugins


def check(facts: Facts) -> Hits:
    """A factor below 1 becomes 1.2; a negative weight of a resource becomes 1.

    Source: pkg/scheduler/plugins/overcommit/overcommit.go and plugins/binpack/binpack.go.
    """
    for plugin in plugins(facts):
        if plugin.name == "overcommit":
            yield from _below(plugin, "overcommit-factor", 1, "1.2", "write 1 or more")
        if plugin.name == "binpack":
            for name in plugin.arguments:
                if name.startswith("binpack.") and name != "binpack.weight":
                    yield from _below(plugin, name, 0, "1", "write 0 to ignore the resource")


def _below(plugin: ListedPlugin, name: str, least: int, then: str, remedy: str) -> Hits:
    value = plugin.arguments.get(name)
    if isinstance(value, int | float) and value < least:
        yield Hit(
            RULE,
            f"{name} is {value}, which is too small, so {then} is used; {remedy}",
            plugin.argument_at(name),
        )


RULE = ObjectRule(
    "volcano-argument-out-of-range",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write a factor of at least 1, and weights of at least 0.",
    judges=("volcano-scheduler.conf",),
    check=check,
)
