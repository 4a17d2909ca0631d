"""The action enqueue holds jobs back that preempt and reclaim would help."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.rule import Facts, Family, ObjectRule
from policygen.lint.volcano.configuration import QUEUE_PLUGINS, Settings, all_settings

_ROOM = {"preempt": (*QUEUE_PLUGINS, "overcommit"), "reclaim": ("overcommit",)}
"""Who holds back a job that the action would make room for.

To capacity and proportion a queue below what it deserves has room; to overcommit a full cluster has none.
"""


def check(facts: Facts) -> Iterator[Hit]:
    """Preempt and reclaim pass over jobs that are not enqueued; without the action all are.

    Source: pkg/scheduler/actions/{reclaim,preempt,enqueue}; volcano-sh/volcano#4756; run on 1.14.1.
    """
    for each in all_settings(facts):
        if "enqueue" not in each.actions:
            continue
        voters = _voters(each)
        held = [it for it in each.evicts if voters & set(_ROOM[it.removeprefix("gang")])]
        if held:
            rest = ", ".join(name for name in each.actions if name != "enqueue")
            act = "act" if len(held) > 1 else "acts"
            yield Hit(
                RULE,
                f"enqueue holds a job back while its queue or the cluster is full, and "
                f"{' and '.join(held)} {act} only for jobs that it let in; write "
                f'actions: "{rest}"',
                each.actions_at,
            )


def _voters(each: Settings) -> set[str]:
    """The plugins that are asked about room: those of the first tier that has any."""
    asked = [
        it for it in each.plugins if it.name in _ROOM["preempt"] and it.on("enableJobEnqueued")
    ]
    return {it.name for it in asked if it.tier == asked[0].tier}


RULE = ObjectRule(
    "enqueue-starves-claimants",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=("volcano-scheduler.conf",),
    check=check,
)
