"""Volcano packs by cpu and memory only, so GPUs scatter."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.rule import Facts, Family, ObjectRule
from policygen.lint.volcano.configuration import Placed, all_settings


def check(facts: Facts) -> Iterator[Hit]:
    """Only cpu and memory have a weight unless others are listed.

    Source: pkg/scheduler/plugins/binpack/binpack.go; volcano-sh/volcano#1844.
    """
    for each in all_settings(facts):
        for plugin in each.plugins:
            if plugin.name == "binpack" and plugin.number("binpack.weight", 1) and _blind(plugin):
                yield Hit(
                    RULE,
                    "binpack counts no resource but cpu and memory; write binpack.resources: "
                    "nvidia.com/gpu and binpack.resources.nvidia.com/gpu: 10",
                    plugin.at,
                )


def _blind(plugin: Placed) -> bool:
    """Whether nothing says that GPUs shall count; what says it wrongly is for other rules."""
    return not any(name.startswith("binpack.resources") for name in plugin.arguments)


RULE = ObjectRule(
    "binpack-without-gpu",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=("volcano-scheduler.conf",),
    check=check,
)
