"""A Queue has a capability but no deserved, so all its pods may be reclaimed."""

from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.lint.volcano import queues
from policygen.lint.volcano.configuration import settings


def check(facts: Facts) -> Hits:
    """For capacity, pods above deserved are victims, and a queue reclaims only up to deserved.

    Skips queues that are not reclaimable. The configuration that Volcano ships has the plugin
    proportion, which ignores deserved.
    Source: pkg/scheduler/plugins/capacity/capacity.go, isImmediateVictim, AddPreemptiveFn.
    """
    configuration = settings(facts)
    if configuration is None or configuration.capacity is None:
        return
    for queue in queues.without_share(facts.cluster):
        yield Hit(
            RULE,
            f"{queue} has no deserved, so under plugin capacity all its pods may be reclaimed, and the queue can reclaim nothing; "
            "write deserved",
            queue.at / "spec",
        )


RULE = ObjectRule(
    "queue-without-deserved",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Set deserved.",
    judges=("Queue",),
    check=check,
    needs=frozenset({Need.VOLCANO_CONFIGURATION}),
)
