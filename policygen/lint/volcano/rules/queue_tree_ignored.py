"""Queues have parents, and the scheduler treats all queues alike."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.rule import Facts, Family, Need, ObjectRule
from policygen.lint.volcano.configuration import all_settings
from policygen.lint.volcano.queues import MADE


def check(facts: Facts) -> Iterator[Hit]:
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
            yield Hit(
                RULE,
                f"{what} of {children[0]}; write enableHierarchy: true",
                each.capacity.at,
                (first,),
            )
        elif each.proportion is not None:
            yield Hit(
                RULE,
                f"proportion reads no parent of {children[0]}, so its limits and shares stand "
                "alone; use capacity with enableHierarchy: true",
                each.proportion.at / "name",
                (first,),
            )


RULE = ObjectRule(
    "queue-tree-ignored",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=("Queue",),
    check=check,
    needs=frozenset({Need.VOLCANO_CONFIGURATION}),
    reads=("volcano-scheduler.conf",),
)
