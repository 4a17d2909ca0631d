"""A capability of 0 cpu or memory means that a Queue has no limit."""

from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Volcano sets both to infinity unless they are above 0; other resources keep 0.

    If the queue deserves some, Volcano 1.13 and later refuse it, as deserved-above-capability reports.
    Source: pkg/scheduler/plugins/capacity/capacity.go, buildQueueAttrs; plugins/proportion.
    """
    refused = "deserved-above-capability" in facts.run and facts.target["volcano"].release >= (
        1,
        13,
    )
    for queue in facts.cluster.queues:
        for name in ("cpu", "memory"):
            if refused and queue.fields.deserved.get(name, 0) > 0:
                continue
            if queue.fields.capability.get(name) == 0:
                yield Hit(
                    RULE,
                    f"{queue} has a capability of 0 {name}, which Volcano reads as no limit; "
                    "write a small amount instead of 0, or close the queue",
                    queue.at.to("spec", "capability", name),
                )


RULE = ObjectRule(
    "zero-capability-is-no-limit",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Write a small amount instead of 0.",
    judges=("Queue",),
    check=check,
)
