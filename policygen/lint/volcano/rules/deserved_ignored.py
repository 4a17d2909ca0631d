"""Queues set deserved, but the plugin proportion ignores deserved and uses only weight."""

from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.lint.volcano.configuration import all_settings
from policygen.lint.volcano.queues import ROOT


def check(facts: Facts) -> Hits:
    """Proportion computes shares from weights.

    If parents are ignored too, queue-tree-ignored reports it. The scheduler itself writes
    deserved of root, with any plugin.
    Source: pkg/scheduler/plugins/proportion/proportion.go; pkg/scheduler/framework/session.go.
    """
    queues = [queue for queue in facts.cluster.queues if queue.name != ROOT]
    deserving = [queue for queue in queues if queue.fields.deserved]
    if not deserving or any(queue.fields.parent not in ("", ROOT) for queue in queues):
        return
    for configuration in all_settings(facts):
        if configuration.proportion is not None:
            yield Hit(
                RULE,
                f"plugin proportion uses only weight and ignores deserved of {deserving[0]}; "
                "use capacity instead",
                configuration.proportion.at / "name",
                (deserving[0].at.to("spec", "deserved"),),
            )


RULE = ObjectRule(
    "deserved-ignored",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Replace the plugin proportion with capacity in the scheduler's configuration.",
    judges=("Queue",),
    check=check,
    needs=frozenset({Need.VOLCANO_CONFIGURATION}),
)
