"""The plugin binpack scores nodes by cpu and memory only, so GPUs are not packed."""

from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano.configuration import ListedPlugin, plugins


def check(facts: Facts) -> Hits:
    """Only cpu and memory have a weight by default.

    Source: pkg/scheduler/plugins/binpack/binpack.go; volcano-sh/volcano#1844.
    """
    for plugin in plugins(facts):
        if plugin.name == "binpack" and plugin.number("binpack.weight", 1) and _blind(plugin):
            yield Hit(
                RULE,
                "plugin binpack scores nodes by cpu and memory only; write "
                "binpack.resources: nvidia.com/gpu and binpack.resources.nvidia.com/gpu: 10",
                plugin.at,
            )


def _blind(plugin: ListedPlugin) -> bool:
    """Whether no argument names a resource. Other rules check arguments that do."""
    return not any(name.startswith("binpack.resources") for name in plugin.arguments)


RULE = ObjectRule(
    "binpack-without-gpu",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="List the GPU resource in binpack.resources, and give it a weight.",
    judges=("volcano-scheduler.conf",),
    check=check,
)
