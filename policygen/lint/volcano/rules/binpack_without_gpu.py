"""The plugin binpack scores nodes by cpu and memory only, so GPUs are not packed."""

from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano.configuration import plugins


def check(facts: Facts) -> Hits:
    """Only cpu and memory have a weight by default.

    Source: pkg/scheduler/plugins/binpack/binpack.go; volcano-sh/volcano#1844.
    """
    for plugin in plugins(facts):
        # Other rules check arguments that name a resource.
        names_any = any(name.startswith("binpack.resources") for name in plugin.arguments)
        if plugin.name == "binpack" and plugin.number("binpack.weight", 1) and not names_any:
            yield Hit(
                RULE,
                "plugin binpack scores nodes by cpu and memory only; write "
                "binpack.resources: nvidia.com/gpu and binpack.resources.nvidia.com/gpu: 10",
                plugin.at,
            )


RULE = ObjectRule(
    "binpack-without-gpu",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="List the GPU resource in binpack.resources, and give it a weight.",
    judges=("volcano-scheduler.conf",),
    check=check,
)
