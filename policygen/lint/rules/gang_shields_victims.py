"""The plugin gang keeps the pods of whole gangs from being taken, so preemption finds none."""

from collections.abc import Iterator

from policygen.finding import Severity
from policygen.lint.rule import Claim, Facts, Family, Rule
from policygen.lint.volcano_settings import all_settings

_SWITCHES = {"preempt": "enablePreemptable", "reclaim": "enableReclaimable"}


def check(facts: Facts) -> Iterator[Claim]:
    """Only pods above minMember are victims to it, and all plugins of its tier must agree.

    Source: pkg/scheduler/plugins/gang/gang.go; volcano-sh/volcano#3332, #1642.
    """
    for each in all_settings(facts):
        gang = each.plugin("gang")
        if gang is None:
            continue
        on = [_SWITCHES[name] for name in each.evicts if gang.on(_SWITCHES.get(name, ""))]
        if on:
            yield Claim(
                "gang lets no pod go that its job's minMember needs, so "
                f"{' and '.join(each.evicts)} find no victim among gangs; write "
                f"{' and '.join(f'{switch}: false' for switch in on)}",
                gang.at,
                (each.actions_at,),
            )


RULE = Rule(
    "gang-shields-victims",
    Severity.WARNING,
    Family.INERT,
    judges=("volcano-scheduler.conf",),
    check=check,
)
