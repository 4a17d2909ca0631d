"""The plugin gang keeps the pods of whole gangs from being taken, so preemption finds none."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.rule import Facts, Family, ObjectRule
from policygen.lint.volcano.configuration import Placed, Settings, all_settings

_SWITCHES = {"preempt": "enablePreemptable", "reclaim": "enableReclaimable"}
_VOTERS = {
    "preempt": ("cdp", "conformance", "drf", "extender", "pdb", "priority", "tdm"),
    "reclaim": ("capacity", "cdp", "conformance", "extender", "pdb", "proportion"),
}
"""Plugins besides gang that name victims."""


def check(facts: Facts) -> Iterator[Hit]:
    """Only pods above minMember are victims to it, and all plugins of its tier must agree.

    Where they agree on none a later tier is asked, so only the last one that votes is judged.
    Source: pkg/scheduler/plugins/gang/gang.go; framework/session_plugins.go, Reclaimable;
    volcano-sh/volcano#3332, #1642.
    """
    for each in all_settings(facts):
        gang = each.plugin("gang")
        if gang is None:
            continue
        on = [name for name in _SWITCHES if name in each.evicts and _last(each, gang, name)]
        if on:
            yield Hit(
                RULE,
                "gang lets no pod go that its job's minMember needs, so "
                f"{' and '.join(on)} find no victim among gangs; write "
                f"{' and '.join(f'{_SWITCHES[name]}: false' for name in on)}",
                gang.at,
                (each.actions_at,),
            )


def _last(each: Settings, gang: Placed, action: str) -> bool:
    """Whether gang votes, and nobody in a later tier does."""
    switch = _SWITCHES[action]
    return gang.on(switch) and not any(
        it.tier > gang.tier and it.name in _VOTERS[action] and it.on(switch) for it in each.plugins
    )


RULE = ObjectRule(
    "gang-shields-victims",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=("volcano-scheduler.conf",),
    check=check,
)
