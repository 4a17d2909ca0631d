"""A Queue has a capability but no deserved, which the plugin capacity needs."""

from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano import queues


def check(facts: Facts) -> Hits:
    """Only if no configuration shows which plugin is used; otherwise see `queue-without-deserved`.

    A queue with a weight probably uses the plugin proportion, which Volcano ships.
    Source: pkg/scheduler/plugins/capacity/capacity.go, isImmediateVictim, AddPreemptiveFn.
    """
    if facts.cluster.seen is not None or facts.cluster.volcano_configurations.any:
        return
    for queue in queues.without_share(facts.cluster):
        yield Hit(
            RULE,
            f"{queue} has no deserved, so under plugin capacity all its pods may be reclaimed; write deserved, unless you use plugin proportion",
            queue.at / "spec",
        )


RULE = ObjectRule(
    "queue-deserves-nothing",
    Severity.INFO,
    Family.INERT,
    __doc__,
    remedy="Set deserved, unless you use the plugin proportion, which uses only weight.",
    judges=("Queue",),
    check=check,
    reads=("volcano-scheduler.conf",),
)
