"""An argument in Volcano's scheduler configuration crashes the scheduler."""

from collections.abc import Iterator

from policygen.core.quoting import shown
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano import terms
from policygen.lint.volcano.configuration import ListedPlugin, VolcanoFile, all_settings

_SHARING = "deviceshare.GPUSharingEnable"
_NUMBER = "deviceshare.GPUNumberEnable"
_VGPU = "deviceshare.VGPUEnable"
_TIMEOUT = "volumebinding.bindTimeoutSeconds"
_FEATURES = {
    "dynamicresources": ("predicate.DynamicResourceAllocationEnable", False),
    "volumebinding": ("predicate.VolumeBindingEnable", True),
}
"""By the first word of an argument: the argument that switches its feature, and its default."""


def check(facts: Facts) -> Hits:
    """Unchecked types end the process, and so do two ways to share GPUs.

    Source: pkg/scheduler/framework/arguments.go, Get; plugins/{tdm,rescheduling,deviceshare};
    volcano-sh/volcano#5749, #5806.
    """
    target = facts.target["volcano"]
    for plugin in (it for each in all_settings(facts) for it in _read(each)):
        for name, value, parameter in terms.mistyped(plugin.name, plugin.arguments, target):
            if parameter.crashes and _is_read(plugin, name):
                yield Hit(
                    RULE,
                    f"{name} of plugin {plugin.name} is {shown(value)}, which crashes the "
                    f"scheduler at each start; write {parameter.type.value}",
                    plugin.argument_at(name),
                )
        if plugin.name == "deviceshare":
            yield from _ways(plugin)
        if plugin.name == "predicates" and _is_read(plugin, _TIMEOUT):
            seconds = plugin.arguments.get(_TIMEOUT)
            if isinstance(seconds, int | float) and seconds <= -1:  # Go drops the fraction
                yield Hit(
                    RULE,
                    f"{_TIMEOUT} of plugin predicates is {seconds}, which crashes the scheduler at "
                    "each start; write 0 or more",
                    plugin.argument_at(_TIMEOUT),
                )


def _read(configuration: VolcanoFile) -> Iterator[ListedPlugin]:
    """The plugins without a second rescheduling in a tier, whose arguments are not read.

    Source: plugins/rescheduling/rescheduling.go, OnSessionOpen.
    """
    tiers = set()
    for plugin in configuration.plugins:
        if plugin.name != "rescheduling" or plugin.tier not in tiers:
            yield plugin
        if plugin.name == "rescheduling":
            tiers.add(plugin.tier)


def _is_read(plugin: ListedPlugin, name: str) -> bool:
    """Whether the feature of an argument is on."""
    feature, by_default = _FEATURES.get(name.partition(".")[0], ("", True))
    switch = plugin.arguments.get(feature)
    return switch if isinstance(switch, bool) else by_default


def _ways(plugin: ListedPlugin) -> Hits:
    on = [name for name in (_SHARING, _NUMBER, _VGPU) if plugin.arguments.get(name) is True]
    if len(on) > 1:
        yield Hit(
            RULE,
            f"{' and '.join(on)} are true, which crashes the scheduler at each start; set only one "
            "of them to true",
            plugin.argument_at(on[1]),
        )


RULE = ObjectRule(
    "volcano-scheduler-crashes",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write the type that the message names.",
    judges=("volcano-scheduler.conf",),
    check=check,
)
