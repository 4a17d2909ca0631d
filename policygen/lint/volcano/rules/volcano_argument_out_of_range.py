"""An argument of a Volcano plugin is below what it takes, so another value stands."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.rule import Facts, Family, ObjectRule
from policygen.lint.volcano.configuration import Placed, all_settings


def check(facts: Facts) -> Iterator[Hit]:
    """A factor below 1 becomes 1.2, a negative weight of a resource 1.

    Source: pkg/scheduler/plugins/overcommit/overcommit.go and plugins/binpack/binpack.go.
    """
    for each in all_settings(facts):
        for plugin in each.plugins:
            if plugin.name == "overcommit":
                yield from _below(plugin, "overcommit-factor", 1, "1.2", "write at least 1")
            if plugin.name == "binpack":
                for name in plugin.arguments:
                    if name.startswith("binpack.") and name != "binpack.weight":
                        yield from _below(plugin, name, 0, "1", "write 0 to leave it out")


def _below(plugin: Placed, name: str, least: int, then: str, fix: str) -> Iterator[Hit]:
    value = plugin.arguments.get(name)
    if isinstance(value, int | float) and value < least:
        yield Hit(
            RULE, f"{name} is {value}, and is read as {then}; {fix}", plugin.argument_at(name)
        )


RULE = ObjectRule(
    "volcano-argument-out-of-range",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=("volcano-scheduler.conf",),
    check=check,
)
