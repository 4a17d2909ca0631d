"""A Queue has a weight, but the plugin capacity ignores weight and uses deserved."""

from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.lint.volcano.configuration import settings


def check(facts: Facts) -> Hits:
    """Capacity does not read weights.

    Source: pkg/scheduler/plugins/capacity/capacity.go; volcano-sh/volcano#3305.
    """
    configuration = settings(facts)
    if configuration is None or configuration.capacity is None:
        return
    for queue in facts.cluster.queues:
        if queue.fields.weight > 1:
            yield Hit(
                RULE,
                f"{queue} has weight {queue.fields.weight}, which plugin capacity ignores; write "
                "deserved, and remove the weight",
                queue.at.to("spec", "weight"),
                (configuration.capacity.at,),
            )


RULE = ObjectRule(
    "queue-weight-ignored",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Set deserved, and remove the weight.",
    judges=("Queue",),
    check=check,
    needs=frozenset({Need.VOLCANO_CONFIGURATION}),
)
