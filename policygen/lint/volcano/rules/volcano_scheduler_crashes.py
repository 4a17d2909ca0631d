"""Volcano's scheduler ends when it reads these arguments."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.rule import Facts, Family, ObjectRule
from policygen.lint.volcano import terms
from policygen.lint.volcano.configuration import Placed, all_settings

_SHARING = "deviceshare.GPUSharingEnable"
_NUMBER = "deviceshare.GPUNumberEnable"
_VGPU = "deviceshare.VGPUEnable"


def check(facts: Facts) -> Iterator[Hit]:
    """Generic decoding and unchecked assertions end the process; so do two ways to share cards.

    Source: pkg/scheduler/framework/arguments.go, Get; plugins/{tdm,rescheduling,deviceshare};
    volcano-sh/volcano#5749, #5806.
    """
    target = facts.target["volcano"]
    for each in all_settings(facts):
        for plugin in each.plugins:
            for name, value in plugin.arguments.items():
                word = terms.argument(plugin.name, name)
                if word is None or not (word.dies and word.read(target)):
                    continue
                if not word.fits(value, target):
                    yield Hit(
                        RULE,
                        f"{name} of plugin {plugin.name} is {value!r}, at which the scheduler ends "
                        f"and restarts for ever; write {word.sort.value}",
                        plugin.argument_at(name),
                    )
            if plugin.name == "deviceshare":
                yield from _ways(plugin)


def _ways(plugin: Placed) -> Iterator[Hit]:
    on = [name for name in (_SHARING, _NUMBER, _VGPU) if plugin.arguments.get(name) is True]
    if len(on) > 1:
        yield Hit(
            RULE,
            f"{' and '.join(on)} are both on, at which the scheduler ends and restarts for ever; "
            "leave one on",
            plugin.argument_at(on[1]),
        )


RULE = ObjectRule(
    "volcano-scheduler-crashes",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    judges=("volcano-scheduler.conf",),
    check=check,
)
