"""Queues have parents, but the scheduler ignores the parents."""

from policygen.core.suggest import Names
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.lint.volcano.configuration import ListedPlugin, all_settings
from policygen.lint.volcano.queues import MADE

_SWITCH = "enableHierarchy"


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
    misspelt = "volcano-key-ignored" in facts.run  # it reports a misspelt enableHierarchy
    first = children[0].at.to("spec", "parent")
    for configuration in all_settings(facts):
        capacity = configuration.capacity
        if configuration.hierarchy or (misspelt and capacity and _misspells(capacity)):
            continue
        if capacity is not None:
            yield Hit(
                RULE,
                f"plugin capacity without enableHierarchy ignores the parent of {children[0]}; write enableHierarchy: true",
                capacity.at,
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


def _misspells(plugin: ListedPlugin) -> bool:
    names = Names([_SWITCH])
    return any(key != _SWITCH and names.meant(str(key)) for key in plugin.fields)


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
