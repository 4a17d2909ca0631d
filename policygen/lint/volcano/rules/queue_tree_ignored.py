"""Queues have parents, and the scheduler treats all queues alike."""

from collections.abc import Iterator

from policygen.core.finding import Severity
from policygen.lint.rule import Claim, Facts, Family, Need, Rule
from policygen.lint.volcano.configuration import all_settings
from policygen.lint.volcano.queues import MADE


def check(facts: Facts) -> Iterator[Claim]:
    """Only capacity reads spec.parent, and only with enableHierarchy.

    Source: pkg/scheduler/plugins/capacity/capacity.go, buildQueueAttrs; plugins/proportion.
    """
    children = [
        queue
        for queue in facts.cluster.queues
        if queue.it.parent not in ("", "root") and queue.name not in MADE
    ]
    if not children:
        return
    first = children[0].at.to("spec", "parent")
    for each in all_settings(facts):
        if each.hierarchy:
            continue
        if each.capacity is not None:
            what = "capacity without enableHierarchy reads no parent"
            yield Claim(
                f"{what} of {children[0]}; write enableHierarchy: true", each.capacity.at, (first,)
            )
        elif each.proportion is not None:
            yield Claim(
                f"proportion reads no parent of {children[0]}, so its limits and shares stand "
                "alone; use capacity with enableHierarchy: true",
                each.proportion.at / "name",
                (first,),
            )


RULE = Rule(
    "queue-tree-ignored",
    Severity.ERROR,
    Family.INERT,
    judges=("Queue",),
    check=check,
    needs=frozenset({Need.VOLCANO_CONFIGURATION}),
    reads=("volcano-scheduler.conf",),
)
