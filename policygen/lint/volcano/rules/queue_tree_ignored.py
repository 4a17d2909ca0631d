"""Queues have parents, but the scheduler ignores the parents."""

from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.lint.volcano.configuration import all_settings
from policygen.lint.volcano.queues import MADE


def check(facts: Facts) -> Hits:
    """Only capacity reads spec.parent, and only with enableHierarchy.

    Source: pkg/scheduler/plugins/capacity/capacity.go, buildQueueAttrs; plugins/proportion.
    """
    children = [
        queue
        for queue in facts.cluster.queues
        if queue.fields.parent not in ("", "root") and queue.name not in MADE
    ]
    if not children:
        return
    first = children[0].at.to("spec", "parent")
    for configuration in all_settings(facts):
        if configuration.hierarchy:
            continue
        if configuration.capacity is not None:
            yield Hit(
                RULE,
                f"plugin capacity without enableHierarchy ignores the parent of {children[0]}; write enableHierarchy: true",
                configuration.capacity.at,
                (first,),
            )
        elif configuration.proportion is not None:
            yield Hit(
                RULE,
                f"plugin proportion ignores the parent of {children[0]}, so the limits and "
                "shares of parents have no effect; use capacity with enableHierarchy: true",
                configuration.proportion.at / "name",
                (first,),
            )


RULE = ObjectRule(
    "queue-tree-ignored",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Use the plugin capacity with enableHierarchy: true.",
    judges=("Queue",),
    check=check,
    needs=frozenset({Need.VOLCANO_CONFIGURATION}),
)
