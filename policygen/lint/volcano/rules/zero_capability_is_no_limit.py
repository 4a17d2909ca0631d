"""A queue's capability of 0 cpu or memory means no limit."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Both are set to infinity where they are not above 0; other resources are not.

    Source: pkg/scheduler/plugins/capacity/capacity.go, buildQueueAttrs; plugins/proportion.
    """
    for queue in facts.cluster.queues:
        for name in ("cpu", "memory"):
            if queue.it.capability.get(name) == 0:
                yield Hit(
                    RULE,
                    f"{queue} has a capability of 0 {name}, which Volcano reads as no limit; write "
                    f"the least amount that you allow, or close the queue",
                    queue.at.to("spec", "capability", name),
                )


RULE = ObjectRule(
    "zero-capability-is-no-limit",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=("Queue",),
    check=check,
)
